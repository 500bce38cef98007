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
from envcheck.startup.budget import Budget
from envcheck.startup.environment import Checked, check_environment
from envcheck.startup.journal import Journal
from envcheck.startup.settings import Settings, make_settings

if TYPE_CHECKING:
    from typing import Union

    PathLike = Union[str, "os.PathLike[str]"]

__all__ = ["SelfTest", "run_selftest", "selftest"]

_VERDICTS = {
    EXIT_CONFORMS: "conforms",
    EXIT_DOES_NOT_CONFORM: "does_not_conform",
    EXIT_UNDETERMINED: "undetermined",
}


@record
class SelfTest:
    """What a self-test came to.

    `code` is what the check came to, `exit_code` the same under the policy: 0 lets the
    application start. `how` is `sealed` when nothing differs from the seal, else `rules`.
    `problems` are lines for people, most important first.
    """

    code: int
    policy: str
    how: str = ""
    problems: tuple[str, ...] = ()
    warnings: int = 0
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """conforms, does_not_conform, undetermined, or failed (the check itself did)."""
        return _VERDICTS.get(self.code, "failed")

    @property
    def exit_code(self) -> int:
        """The exit code under the policy."""
        return policies.exit_code(self.policy, self.code)

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
    policy: str = policies.CLOSED,
    budget: float | None = None,
    files: bool = False,
) -> SelfTest:
    """Return what a check of this process's environment comes to, as `envcheck selftest` does.

    Without `train`, the fingerprint that `model` carries is used. Nothing is written.
    Problems with the files themselves are part of the result, too: `code` is 2 or more.
    """
    options: dict[str, object] = {"policy": policy, "budget": budget, "files": files}
    for name, path in (("train", train), ("model", model), ("seal", seal), ("golden", golden)):
        options[name] = None if path is None else os.fspath(path)
    if policy not in policies.POLICIES:
        raise UsageError(f"{policy!r} is none of {', '.join(policies.POLICIES)}")
    return run_selftest(make_settings(options, {}), Journal(lambda _: None))


def run_selftest(settings: Settings, journal: Journal) -> SelfTest:
    """Check, and log what is found; never raises an `Exception`."""
    start = time.monotonic()
    if settings.loosened_from:
        journal.write(
            "warning", "policy-loosened", policy=settings.policy,
            stated=settings.loosened_from, by="ENVCHECK_POLICY",
        )  # fmt: skip
    done = _guarded(partial(check_environment, settings, journal), journal)
    for step in (_check_files, _check_golden):
        if done.code == EXIT_CONFORMS:
            done = _joined(done, _guarded(partial(step, settings, journal), journal))
    result = SelfTest(
        code=done.code,
        policy=settings.policy,
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


def _guarded(work: Callable[[], Checked], journal: Journal) -> Checked:
    """Return what the work returns; a failure becomes a result with its exit code."""
    try:
        return work()
    except EnvcheckError as problem:
        code, text = problem.exit_code, str(problem).partition("\n")[0]
        hint = problem.hint or None
    except Exception as problem:  # noqa: BLE001 - the policy decides, not Python's exit code
        code, text = EXIT_CRASHED, f"internal error: {type(problem).__name__}: {problem}"
        hint = "this is a fault of envcheck and no verdict; please report it"
    journal.write("error", "problem", problem=text, hint=hint)
    return Checked(code=code, problems=[text])


def _joined(first: Checked, second: Checked) -> Checked:
    return Checked(
        code=second.code,
        how=first.how or second.how,
        problems=[*first.problems, *second.problems],
        warnings=first.warnings + second.warnings,
        details={**first.details, **second.details},
    )


def _check_files(settings: Settings, journal: Journal) -> Checked:
    """Compare the files of distributions with their RECORD, where that is asked for."""
    if not settings.files:
        return Checked()
    from envcheck.probing.host import Host
    from envcheck.startup.tampering import inspect_files

    found = inspect_files(Host(), Budget(settings.files_budget))
    counts = {"listed": found.listed, "sized": found.sized, "hashed": found.hashed}
    for item in journal.some(found.tampered):
        journal.write("error", "file", file=item.path, problem=item.what)
    journal.write("info" if found.is_complete else "warning", "files", **counts,
                  budget=settings.files_budget, complete=found.is_complete)  # fmt: skip
    details = {"files": {**counts, "tampered": len(found.tampered)}}
    problems = [f"file {item.path} {item.what}" for item in found.tampered]
    if problems:
        return Checked(code=EXIT_DOES_NOT_CONFORM, problems=problems, details=details)
    if not found.is_complete and found.sized == found.listed and found.listed:
        return Checked(warnings=1, details=details)  # every size fits; not every digest was made
    if not found.is_complete or not found.listed:
        problem = f"timeout: the files could not be looked at within {settings.files_budget:g} s"
        if found.is_complete:
            problem = "no installed distribution lists its files, so none could be checked"
        return Checked(code=EXIT_UNDETERMINED, problems=[problem], details=details)
    return Checked(details=details)


def _check_golden(settings: Settings, journal: Journal) -> Checked:
    """Replay recorded inputs, where that is asked for; this loads the model's runtime."""
    if not settings.golden:
        return Checked()
    if not settings.model:
        raise UsageError(
            "a golden needs the model to replay", place="envcheck selftest",
            hint="name it with --model or ENVCHECK_MODEL",
        )  # fmt: skip
    from envcheck.goldens.replaying import replay_golden

    result = replay_golden(settings.model, settings.golden, entry=settings.entry)
    level = "info" if result.is_fine else "error"
    journal.write(level, "golden", **result.figures())
    details = {"golden": result.figures()}
    if result.is_fine:
        return Checked(details=details)
    return Checked(code=EXIT_DOES_NOT_CONFORM, problems=[result.summary], details=details)
