"""`envcheck.selftest()`: check this environment against the one that trained.

First the plain question whether anything is different from what was accepted at release (the
seal); only if something is, or without a seal, the rules are run. CPython 3.9 and the standard
library alone as long as no rule is run.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_CRASHED,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    EnvcheckError,
    UsageError,
)
from envcheck.records import field, record
from envcheck.startup import policy as policies
from envcheck.startup.budget import Budget, OutOfTime
from envcheck.startup.checked import Checked, joined
from envcheck.startup.environment import check_environment
from envcheck.startup.journal import Journal
from envcheck.startup.settings import Settings, make_settings

if TYPE_CHECKING:
    from typing import Union

    PathLike = Union[str, "os.PathLike[str]"]

__all__ = ["SelfTest", "refused", "run_selftest", "selftest"]

_VERDICTS = {
    EXIT_CONFORMS: "conforms",
    EXIT_DOES_NOT_CONFORM: "does_not_conform",
    EXIT_UNDETERMINED: "undetermined",
}


@record
class SelfTest:
    """What a self-test came to.

    `codes` are what its parts came to, `code` the one of them that says most, `exit_code` the
    same under the policy: 0 lets the application start. `how` is `sealed` when nothing differs
    from the seal, else `rules`. `problems` are lines for people, most important first.
    """

    codes: frozenset[int]
    policy: str
    how: str = ""
    problems: tuple[str, ...] = ()
    warnings: int = 0
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """The exit code of the check, whatever the policy."""
        return policies.headline(*self.codes)

    @property
    def verdict(self) -> str:
        """conforms, does_not_conform, undetermined, or failed (the check itself did)."""
        return _VERDICTS.get(self.code, "failed")

    @property
    def exit_code(self) -> int:
        """The exit code under the policy."""
        return policies.exit_code(self.policy, *self.codes)

    @property
    def summary(self) -> str:
        """One line: the verdict and how many problems there are."""
        words = self.verdict.replace("_", " ")
        count = len(self.problems)
        return f"{words}: {count} problem{'s' if count > 1 else ''}" if count else words


def selftest(  # noqa: PLR0913 (one keyword for each thing that may be checked)
    train: PathLike | None = None,
    *,
    model: PathLike | None = None,
    seal: PathLike | None = None,
    golden: PathLike | None = None,
    entry: str | None = None,
    config: PathLike | None = None,
    profile: str | None = None,
    policy: str = policies.CLOSED,
    budget: float | None = None,
    files: bool = False,
) -> SelfTest:
    """Return what a check of this process's environment comes to, as `envcheck selftest` does.

    Without `train`, the fingerprint that `model` carries is used; without `config`, the policy
    of the nearest configuration file. Nothing is written. Problems with the files themselves
    are part of the result, too: `code` is 2 or more.
    """
    paths = {"train": train, "model": model, "seal": seal, "golden": golden, "config": config}
    options: dict[str, object] = {
        "policy": policy, "budget": None if budget is None else float(budget), "files": files,
        "entry": entry, "profile": profile,
        **{name: None if path is None else os.fspath(path) for name, path in paths.items()},
    }  # fmt: skip
    if policy not in policies.POLICIES:
        raise UsageError(f"{policy!r} is none of {', '.join(policies.POLICIES)}")
    return run_selftest(make_settings(options, {}), Journal(lambda _: None))


def run_selftest(settings: Settings, journal: Journal) -> SelfTest:
    """Check, and log what is found; never raises an `Exception`."""
    start = time.monotonic()
    _tell_loosened(settings.policy, settings.loosened_from, journal)
    budget = Budget(settings.budget)
    done = _guarded("environment", partial(check_environment, settings, journal, budget),
                    settings, journal)  # fmt: skip
    left = budget.left  # the files have a budget of their own
    for name, step in (("files", _check_files), ("golden", _check_golden)):
        if not (settings.files if name == "files" else settings.golden):
            continue
        if policies.exit_code(settings.policy, *done.codes) != EXIT_CONFORMS:
            journal.write("warning", "not-checked", what=name,
                          problem="the start is stopped by what was found before")  # fmt: skip
            continue
        work = partial(step, settings, journal, Budget(left))
        done = joined(done, _guarded(name, work, settings, journal))
    return _told(done, settings.policy, journal, start)


def refused(policy: str, loosened_from: str, problem: EnvcheckError, journal: Journal) -> SelfTest:
    """Return the result where options or variables are wrong, so that nothing was checked."""
    start = time.monotonic()
    _tell_loosened(policy, loosened_from, journal)

    def work() -> Checked:
        raise problem

    return _told(_guarded("", work, Settings(), journal), policy, journal, start)


def _tell_loosened(policy: str, loosened_from: str, journal: Journal) -> None:
    if loosened_from:
        journal.write("warning", "policy-loosened", policy=policy, stated=loosened_from,
                      by="ENVCHECK_POLICY")  # fmt: skip


def _told(done: Checked, policy: str, journal: Journal, start: float) -> SelfTest:
    """Return the result, and log its verdict."""
    result = SelfTest(
        codes=done.codes,
        policy=policy,
        how=done.how,
        problems=tuple(done.problems),
        warnings=done.warnings,
        seconds=round(time.monotonic() - start, 3),
        details=done.details,
    )
    starts = result.exit_code == EXIT_CONFORMS
    level = "info" if result.code == EXIT_CONFORMS else "warning" if starts else "error"
    journal.write(
        level, "verdict", verdict=result.verdict, exit_code=result.exit_code,
        how=result.how or None, policy=result.policy, problems=len(result.problems),
        warnings=result.warnings, seconds=result.seconds,
    )  # fmt: skip
    return result


def _guarded(
    name: str, work: Callable[[], Checked], settings: Settings, journal: Journal
) -> Checked:
    """Return what the work returns; a failure becomes a result with its exit code."""
    hint = None
    try:
        return work()
    except OutOfTime:
        text = f"timeout: {name} not checked within the budget of {settings.budget:g} s"
        journal.write("warning", "timeout", what=name, problem=text)
        return Checked(frozenset((EXIT_UNDETERMINED,)), problems=[text])
    except EnvcheckError as problem:
        code, text = problem.exit_code, str(problem).partition("\n")[0]
        hint = problem.hint or None
    except Exception as problem:  # noqa: BLE001 - the policy decides, not Python's exit code
        code, text = EXIT_CRASHED, f"internal error: {type(problem).__name__}: {problem}"
        hint = "this is a fault of envcheck and no verdict; please report it"
    journal.write("error", "problem", problem=text, hint=hint)
    return Checked(frozenset((code,)), problems=[text])


def _check_files(settings: Settings, journal: Journal, _: Budget) -> Checked:
    """Compare the files of distributions with their RECORD, where that is asked for."""
    from envcheck.startup.inspecting import check_files

    return check_files(settings.files_budget, journal)


def _check_golden(settings: Settings, journal: Journal, budget: Budget) -> Checked:
    """Replay recorded inputs, where that is asked for."""
    if not settings.model:
        raise UsageError(
            "a golden needs the model to replay", place="envcheck selftest",
            hint="name it with --model or ENVCHECK_MODEL",
        )  # fmt: skip
    from envcheck.startup.replay import replay_apart

    found = replay_apart(settings.model, settings.golden, settings.entry, budget)
    level = "info" if found.is_fine else "error"
    journal.write(level, "golden", **found.figures)
    details = {"golden": found.figures}
    if found.is_fine:
        return Checked(details=details)
    return Checked(frozenset((EXIT_DOES_NOT_CONFORM,)), problems=[found.summary], details=details)
