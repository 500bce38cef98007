"""The cases of the built-in rules, and reports on them, made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from envcheck.comparing.compare import compare_fingerprints
from envcheck.rulebook.cases import ANY_RULE, Case, read_cases

if TYPE_CHECKING:
    from envcheck.findings import Finding, Report
    from envcheck.fingerprint import Fingerprint

__all__ = ["ENVIRONMENT", "ROOT", "cases", "hits", "loud", "report", "rule_cases", "without"]

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "rules" / "environment"


@cache
def cases() -> tuple[Case, ...]:
    """Return the cases of the environment rules."""
    return tuple(read_cases(ENVIRONMENT))


def rule_cases() -> list[Case]:
    """Return the cases that speak of one rule."""
    return [case for case in cases() if case.rule != ANY_RULE]


def report(train: Fingerprint, deploy: Fingerprint) -> Report:
    """Return what the built-in rules say about a pair."""
    return compare_fingerprints(train, deploy)


def loud(report: Report) -> list[Finding]:
    """Return the findings that are no mere information."""
    return [finding for finding in report.findings if finding.severity != "info"]


def hits(case: Case, report: Report) -> list[Finding]:
    """Return the findings of the case's rule about the case's subject."""
    return [
        finding
        for finding in report.findings
        if finding.rule == case.rule and case.subject in ("", finding.subject)
    ]


def without(fingerprint: Fingerprint, key: str) -> Fingerprint:
    """Return a fingerprint that lacks one fact."""
    facts = {name: fact for name, fact in fingerprint.facts.items() if name != key}
    return replace(fingerprint, facts=facts)
