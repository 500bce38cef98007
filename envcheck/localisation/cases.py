"""Cases of training rules: whole training logs, and what a rule has to say about each.

A rule folder keeps them beside its rules: `cases/*.json` are lists of cases, and
`cases/base/NAME.log.json` are training logs. A case names a base and what differs from it:

    {"rule": "TRN001", "name": "class ids under MSE", "expect": "fires", "base": "mlp",
     "patch": {"fits/0/losses/0/name": "mean_squared_error"},
     "subject": "output:f0/0", "severity": "error", "first": true, "source": "https://…"}

A patch maps JSON pointers without their leading slash to new values; null takes a member out of
its object, and `"fits/0/probes/-"` appends to a list.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.errors import RuleError
from envcheck.localisation.analysing import analyse
from envcheck.localisation.training_log import TrainingLog, parse_log
from envcheck.policy.model import Policy
from envcheck.rulebook.cases import ANY_RULE, FIRES, SILENT, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from envcheck.comparing.rulesets import Rules
    from envcheck.findings import Report

__all__ = [
    "ANY_RULE",
    "FIRES",
    "SILENT",
    "UNKNOWN",
    "TrainingCase",
    "judged",
    "read_cases",
    "try_case",
]

_REQUIRED = ("rule", "name", "expect", "base")
_FIELDS = {
    "rule": str, "name": str, "expect": str, "base": str, "patch": dict, "subject": str,
    "severity": str, "first": bool, "line": int, "profile": str, "reason": str, "source": str,
    "explained": bool,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainingCase:
    """One case; empty text means that it says nothing about it."""

    rule: str
    name: str
    expect: str
    place: str
    log: TrainingLog
    subject: str = ""
    severity: str = ""
    first: bool = False
    """Whether the finding has to be the first of the report."""
    line: int = 0
    profile: str = ""
    reason: str = ""
    source: str = ""
    explained: bool | None = None
    """Whether another finding has to account for it."""

    def __str__(self) -> str:
        """Return what a message calls it."""
        return f"{self.rule} {self.expect}: {self.name}"


def read_cases(folder: Path) -> list[TrainingCase]:
    """Return the cases of a rule folder, file by file; none when it has no `cases` folder.

    Raises RuleError for a file that holds no cases, and for a case that cannot be built.
    """
    bases: dict[str, str] = {}
    cases = []
    for path in sorted((folder / "cases").glob("*.json")):
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RuleError(f"cannot be read: {error}", place=str(path)) from error
        if not isinstance(entries, list):
            raise RuleError("is no list of cases", place=str(path), hint="write: [{…}, {…}]")
        for number, entry in enumerate(entries, 1):
            place = f"{path}: case {number}"
            _check(entry, place)
            name = entry["base"]
            if name not in bases:
                bases[name] = _base(folder / "cases" / "base" / f"{name}.log.json", place)
            cases.append(_case(entry, bases[name], place))
    return cases


def case_folders(folder: Path) -> list[Path]:
    """Return the folders at or below `folder` with cases of rules about training, sorted."""
    from envcheck.rulebook.sources import is_about_training

    found = (path.parent for path in folder.rglob("cases") if path.is_dir())
    return sorted(path for path in found if is_about_training(path.relative_to(folder).as_posix()))


def _check(entry: Any, place: str) -> None:
    if not isinstance(entry, dict):
        raise RuleError("is no object", place=place)
    for name in _REQUIRED:
        if name not in entry:
            raise RuleError(f"has no {name!r}", place=place)
    for name, value in entry.items():
        if name not in _FIELDS:
            hint = f"known are {', '.join(_FIELDS)}"
            raise RuleError(f"has the unknown field {name!r}", place=place, hint=hint)
        if not isinstance(value, _FIELDS[name]):
            raise RuleError(f"{name!r} is of the wrong type", place=place)
    if entry["expect"] not in (FIRES, SILENT, UNKNOWN):
        hint = f"one of {FIRES}, {SILENT}, {UNKNOWN}"
        raise RuleError(f"expects {entry['expect']!r}", place=place, hint=hint)


def _base(path: Path, place: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RuleError(f"has no base: {path.name} cannot be read", place=place) from error


def _case(entry: Mapping[str, Any], base: str, place: str) -> TrainingCase:
    data = json.loads(base)
    for pointer, value in entry.get("patch", {}).items():
        try:
            _set(data, pointer.split("/"), copy.deepcopy(value))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise RuleError(f"the patch {pointer!r} leads nowhere", place=place) from error
    told = {name: entry[name] for name in entry if name not in ("base", "patch")}
    return TrainingCase(place=place, log=parse_log(json.dumps(data), place=place), **told)


def _set(data: Any, steps: list[str], value: Any) -> None:
    """Replace, append or take out what stands at the end of a pointer."""
    for step in steps[:-1]:
        data = data[int(step)] if isinstance(data, list) else data[step]
    last = steps[-1]
    if isinstance(data, list):
        if last == "-":
            data.append(value)
        else:
            data[int(last)] = value
    elif value is None:
        data.pop(last, None)
    else:
        data[last] = value


def judged(case: TrainingCase, rules: Rules) -> Report:
    """Return the report about the log of a case."""
    policy = Policy(profiles=("default", case.profile)) if case.profile else None
    return analyse(case.log, rules=rules, policy=policy)


def try_case(case: TrainingCase, rules: Rules) -> str:
    """Return how a case went differently than it should, or an empty text."""
    report = judged(case, rules)
    if case.rule == ANY_RULE:
        loud = [finding for finding in report.active if finding.severity != "info"]
        return "; ".join(f"{finding.rule} fires: {finding.title}" for finding in loud)
    found = [
        finding
        for finding in report.findings
        if finding.rule == case.rule and case.subject in ("", finding.node)
    ]
    open_ = [outcome for outcome in report.undetermined if outcome.rule == case.rule]
    if case.expect == SILENT:
        return f"fires: {found[0].title}" if found else "is open" if open_ else ""
    if case.expect == UNKNOWN:
        return _unknown(case, found, open_)
    return _fires(case, found, report)


def _unknown(case: TrainingCase, found: list[Any], open_: list[Any]) -> str:
    if found or not open_:
        return f"fires: {found[0].title}" if found else "is not open"
    if not any(case.reason in outcome.reason for outcome in open_):
        return f"is open for another reason: {open_[0].reason}"
    return ""


def _fires(case: TrainingCase, found: list[Any], report: Report) -> str:
    if not found:
        return "does not fire"
    best = found[0]
    checks: Iterable[tuple[bool, str]] = (
        (case.severity in ("", best.severity), f"is {best.severity}, not {case.severity}"),
        (not case.first or best.rank == 1, f"ranks {best.rank}: {report.findings[0].title}"),
        (not case.line or best.location.line == case.line, f"line {best.location.line}"),
        (
            case.explained is None or bool(best.explained_by) == case.explained,
            f"explained by {best.explained_by or 'nothing'}",
        ),
    )
    return "; ".join(told for holds, told in checks if not holds)
