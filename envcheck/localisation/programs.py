"""`envcheck.localise()`: run a training script, and name the faults in its training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.running import Run, run_recorded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from envcheck.findings import Report
    from envcheck.fingerprint import Fingerprint

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
    rules: Iterable[str | os.PathLike[str]] = (),
    **judging: Any,
) -> Report:
    """Return the report on a run; the arguments mean what they mean for `localise`."""
    from envcheck.localisation.analysing import analyse
    from envcheck.localisation.recording.writing import log_text
    from envcheck.localisation.rulesets import load_training_rules
    from envcheck.localisation.training_log import parse_log

    folders = list(rules)
    log = parse_log(log_text(run.log))
    training = analyse(log, rules=load_training_rules(folders), **judging)
    if against is None:
        return training
    return _joined(_environment(run, against, folders, judging), training)


def _environment(
    run: Run,
    against: str | os.PathLike[str] | Fingerprint,
    rules: Sequence[str | os.PathLike[str]],
    judging: dict[str, Any],
) -> Report:
    """Return the report on this environment and the other one, whichever of them trains."""
    import json

    from envcheck.fingerprint.reading import parse_fingerprint
    from envcheck.loading import load_side
    from envcheck.pairing import compare

    here = parse_fingerprint(json.dumps(run.log["fingerprint"]).encode(), "this environment")
    other = load_side(against)
    train, deploy = (other, here) if other.role == "train" else (here, other)
    return compare(train, deploy, rules=rules, **judging)


def _joined(environment: Report, training: Report) -> Report:
    """Return both reports as one: by severity, and the environment first where it is the same."""
    from envcheck.findings import OUTCOMES, SEVERITIES
    from envcheck.records import replace

    parts = (environment, training)
    findings = sorted(
        (finding for part in parts for finding in part.findings),
        key=lambda finding: SEVERITIES.index(finding.severity),
    )
    undecided = [part for part in parts if part.rules_checked == 0]
    return replace(
        environment,
        findings=tuple(replace(item, rank=rank) for rank, item in enumerate(findings, 1)),
        undetermined=(*environment.undetermined, *training.undetermined),
        rules={name: sum(part.rules.get(name, 0) for part in parts) for name in OUTCOMES},
        checked=("environment", "training"),
        inputs={**environment.inputs, **training.inputs},
        notes=(*environment.notes, *training.notes),
        open_stages=tuple("training" for part in undecided if part is training)
        + tuple("environment" for part in undecided if part is environment),
    )
