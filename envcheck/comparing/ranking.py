"""The order of findings: severity, root causes before what they explain, then the evidence."""

from __future__ import annotations

from collections.abc import Iterable

from envcheck.findings import SEVERITIES, Finding
from envcheck.records import replace

__all__ = ["ranked"]

_BASIS_ORDER = ("measured", "declared", "inferred")


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings in rank order, each with its rank from 1."""
    listed = list(findings)
    causes = {finding.explained_by for finding in listed if finding.explained_by}

    def key(finding: Finding) -> tuple[int | float | str | bool, ...]:
        return (
            SEVERITIES.index(finding.severity),
            bool(finding.explained_by),
            f"{finding.rule} {finding.subject}" not in causes,
            _BASIS_ORDER.index(finding.basis),
            -finding.confidence,
            finding.rule,
            finding.subject,
        )

    ordered = sorted(listed, key=key)
    return tuple(replace(finding, rank=rank) for rank, finding in enumerate(ordered, 1))
