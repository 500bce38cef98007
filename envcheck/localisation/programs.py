"""`envcheck.localise()`: run a training script, and name the faults in its training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.running import Run, run_recorded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from envcheck.comparing.rulesets import Rules
    from envcheck.findings import Report
    from envcheck.fingerprint import Fingerprint
    from envcheck.policy import Policy

__all__ = ["judge_run", "localise"]


def localise(
    script: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    *,
    record: str | os.PathLike[str] | None = None,
    max_seconds: float | None = None,
    **judging: Any,
) -> Report:
    """Return the report on the training that a script does.

    The script runs in a process of its own, as `python script arguments…` would run it, with the
    streams and the working folder of this one. `record` names a file for the training log. After
    `max_seconds` the script is interrupted, and the report is on what was seen until then.
    `judging` takes `against` (a fingerprint or its file, to compare the environment with),
    `rules` (folders with further rule files), `policy`, `strict` and `engine`, which mean what
    they mean for `envcheck.compare`.

    Raises InputError, SchemaError, UsageError, RuleError and OutputError.
    """
    run = run_recorded(script, arguments, max_seconds=max_seconds)
    if record is not None:
        _keep(run, record)
    return judge_run(run, **judging)


def _keep(run: Run, path: str | os.PathLike[str]) -> None:
    import os

    from envcheck.errors import OutputError
    from envcheck.fingerprint.document import write_atomically
    from envcheck.localisation.recording.writing import log_text

    place = os.fspath(path)
    try:
        write_atomically(place, log_text(run.log))
    except OSError as problem:
        raise OutputError(f"cannot be written: {problem.strerror}", place=place) from problem


def judge_run(
    run: Run,
    *,
    against: str | os.PathLike[str] | Fingerprint | None = None,
    rules: Iterable[str | os.PathLike[str]] | Rules = (),
    policy: Policy | None = None,
    strict: bool = False,
    engine: str = "builtin",
) -> Report:
    """Return the report on a run; the arguments mean what they mean for `localise`."""
    from envcheck.comparing.rulesets import Rules
    from envcheck.localisation.analysing import analyse
    from envcheck.localisation.recording.writing import log_text
    from envcheck.localisation.rulesets import load_training_rules
    from envcheck.localisation.training_log import parse_log

    known = rules if isinstance(rules, Rules) else load_training_rules(rules)
    log = parse_log(log_text(run.log))
    return analyse(log, rules=known, policy=policy, strict=strict, engine=engine)
