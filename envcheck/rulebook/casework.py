"""Run the cases of a rule folder and say which rules lack some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from envcheck.rulebook.cases import ANY_RULE, FIRES, SILENT, UNKNOWN, Case

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.fingerprint import Fingerprint

__all__ = ["CaseResult", "missing_cases", "run_cases"]

Compare = Callable[["Fingerprint", "Fingerprint"], "Report"]


@dataclass(frozen=True)
class CaseResult:
    """One case, and what went differently from what it expects; empty when nothing did."""

    case: Case
    problem: str


def run_cases(cases: Iterable[Case], compare: Compare) -> list[CaseResult]:
    """Return the result of every case, in order."""
    return [
        CaseResult(case, _problem(case, compare(case.pair.train, case.pair.deploy)))
        for case in cases
    ]


def _problem(case: Case, report: Report) -> str:
    fired = [
        finding
        for finding in report.findings
        if finding.rule == case.rule and case.subject in ("", finding.subject)
    ]
    unknown = [
        outcome
        for outcome in report.undetermined
        if outcome.rule == case.rule and case.subject in ("", outcome.subject)
    ]
    if case.expect == SILENT:
        return _loud(case, report, bool(fired))
    if case.expect == UNKNOWN:
        if fired:
            return "fires, but should be unknown"
        if not unknown:
            return "is decided, but should be unknown"
        reasons = [outcome.reason for outcome in unknown]
        return "" if any(case.reason in reason for reason in reasons) else f"because {reasons[0]}"
    if not fired:
        return "is unknown, but should fire" if unknown else "is silent, but should fire"
    if case.severity and case.severity not in {finding.severity for finding in fired}:
        return f"fires as {fired[0].severity}, not {case.severity}"
    if case.first and report.findings[0].rule != case.rule:
        return f"has rank {fired[0].rank}, after {report.findings[0].rule}"
    return ""


def _loud(case: Case, report: Report, fired: bool) -> str:
    if case.rule != ANY_RULE:
        return "fires, but should be silent" if fired else ""
    alarms = [f"{f.rule} {f.subject}" for f in report.active if f.severity != "info"]
    return f"alarms: {', '.join(alarms)}" if alarms else ""


class _About(Protocol):
    """A case of any kind: the rule it is about, and what it expects of it."""

    @property
    def rule(self) -> str: ...
    @property
    def expect(self) -> str: ...


def missing_cases(rules: Sequence[str], cases: Iterable[_About]) -> list[str]:
    """Return a sentence for each rule without a case that fires or one that stays silent."""
    seen = {(case.rule, case.expect) for case in cases}
    return [
        f"{rule} has no case that {'fires' if kind == FIRES else 'stays silent'}"
        for rule in rules
        for kind in (FIRES, SILENT)
        if (rule, kind) not in seen
    ]
