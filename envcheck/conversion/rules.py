"""The rules of the conversion stage, and a finding under one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.findings import Evidence, Finding, Fix, Location

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RULES", "finding_of"]

RULES: dict[str, tuple[str, str]] = {
    "CNV001": ("conversion-failed", "error"),
    "CNV002": ("artefact-does-not-load", "error"),
    "CNV003": ("artefact-does-not-run", "error"),
    "CNV004": ("interface-mismatch", "error"),
    "CNV005": ("converter-complained", "warning"),
    "CNV010": ("layer-diverges", "error"),
    "CNV011": ("divergence-absorbed", "warning"),
    "CNV012": ("lower-precision", "error"),
    "CNV013": ("rounding-noise", "info"),
    "CNV014": ("input-mismatch", "error"),
    "CNV015": ("outputs-diverge", "error"),
    "CNV016": ("batch-dependent-outputs", "error"),
    "CNV017": ("optimisation-diverges", "error"),
    "CNV020": ("layers-not-aligned", "warning"),
    "CNV030": ("unstable-outputs", "error"),
}
"""Fault and default severity of each rule; `rules/index.json` repeats them."""


def finding_of(  # noqa: PLR0913 - the members of a finding
    rule: str,
    *,
    title: str,
    detail: str,
    fix: str,
    subject: str,
    layer: str | None = None,
    tensor: str | None = None,
    evidence: Sequence[tuple[str, Any]] = (),
    **more: Any,
) -> Finding:
    """Return a finding of the conversion stage under a rule."""
    fault, severity = RULES[rule]
    return Finding(
        rule=rule,
        fault=more.pop("fault", fault),
        category="conversion",
        component="conversion",
        severity=more.pop("severity", severity),
        confidence=more.pop("confidence", 0.97),
        basis="measured",
        title=title,
        detail=detail,
        fix=Fix(text=fix),
        subject=subject,
        location=Location(layer=layer, tensor=tensor),
        evidence=tuple(
            Evidence(fact=fact, origin="model", value=value) for fact, value in evidence
        ),
        sources=("parity",),
        stage="conversion",
        **more,
    )
