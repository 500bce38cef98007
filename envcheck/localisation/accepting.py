"""What the policy does to findings about training: it resets severities and accepts findings."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envcheck.policy.baseline import note_of
from envcheck.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Finding
    from envcheck.policy.model import Policy, Waiver

__all__ = ["accepted"]


def accepted(findings: Iterable[Finding], policy: Policy) -> list[Finding]:
    """Return the findings with the severities of the policy, and those it accepts as waived."""
    return [_accepted(finding, policy) for finding in findings]


def _accepted(finding: Finding, policy: Policy) -> Finding:
    severity = policy.severity.get(finding.rule)
    if severity is not None and severity != finding.severity:
        told = f"{finding.detail} The policy sets {finding.rule} to {severity}."
        finding = replace(finding, severity=severity, detail=told)
    for waiver in policy.waivers:
        if _covers(waiver, finding) and policy.day <= waiver.expires:
            return replace(finding, waived=waiver.note)
    baseline = policy.baseline
    if baseline is not None and any(
        entry.rule == finding.rule and entry.subject == finding.subject
        for entry in baseline.entries
    ):
        return replace(finding, waived=note_of(baseline.place), in_baseline=True)
    return finding


def _covers(waiver: Waiver, finding: Finding) -> bool:
    return waiver.rule == finding.rule and (
        not waiver.fact or fnmatchcase(finding.subject, waiver.fact)
    )
