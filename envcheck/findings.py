"""Findings and the report: what envcheck says, whatever the stage that found it.

The shape is that of `envcheck.report/1`; `Report.to_json` is the only place that spells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envcheck.records import field, record

__all__ = [
    "BASES",
    "CATEGORIES",
    "REPORT_SCHEMA",
    "SEVERITIES",
    "STAGES",
    "Evidence",
    "Finding",
    "Fix",
    "Location",
    "Outcome",
    "Report",
]

REPORT_SCHEMA = "envcheck.report/1"
SEVERITIES = ("error", "warning", "info")
STAGES = ("environment", "conversion", "training")
BASES = ("declared", "measured", "inferred")
VERDICTS = ("conforms", "does_not_conform", "undetermined")
COMPONENTS = ("deployment", "conversion", "data", "model", "training")
OUTCOMES = ("pass", "finding", "not_applicable", "unknown", "error")
CATEGORIES = (
    "os", "cpu", "gpu", "python", "library", "resource", "artefact", "conversion", "data-split",
    "preprocessing", "labels", "data-quality", "activation", "initialisation", "architecture",
    "regularisation", "loss", "optimiser", "learning-rate", "iterations", "batch-size", "metric",
    "numeric", "shape", "security", "setting",
)  # fmt: skip


@record(kw_only=True)
class Fix:
    """What to do: a sentence, and a command where one does it."""

    text: str
    command: str = ""


@record(kw_only=True)
class Location:
    """Where it is: a line of a fingerprint or source file, a layer, a batch."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    layer: str | None = None
    tensor: str | None = None
    batch: int | None = None
    epoch: int | None = None


@record(kw_only=True)
class Evidence:
    """One fact that the finding rests on. `origin` is train, deploy, policy, model or log."""

    fact: str
    origin: str
    value: Any = None


@record(kw_only=True)
class Finding:
    """A rule's positive outcome about one subject."""

    rule: str
    fault: str
    category: str
    component: str
    severity: str
    confidence: float
    basis: str
    title: str
    detail: str
    fix: Fix
    subject: str
    train: Any = None
    deploy: Any = None
    rank: int = 0
    location: Location = field(default_factory=Location)
    related: tuple[Location, ...] = ()
    expected: Any = None
    seen: Any = None
    series: tuple[Any, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    because: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("rule",)
    stage: str = "environment"
    explained_by: str = ""
    """`RULE subject` of the root cause that accounts for this finding, or empty."""
    pre_existing: bool = False
    """Whether the train side has it just the same."""
    node: str = ""
    """The node of the graph that the rule fired on; not part of the report file."""
    values: tuple[str, str] | None = None
    """The normalised values by which a baseline knows it; not part of the report file.

    None for a finding about the policy itself, which no baseline accepts.
    """
    in_baseline: bool = False
    """Whether it is waived by the baseline; not part of the report file."""
    waived: str = ""
    """The reason of the waiver that silences it, or empty."""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as `envcheck.report/1` spells it."""
        return {
            "rank": self.rank,
            "rule": self.rule,
            "fault": self.fault,
            "category": self.category,
            "component": self.component,
            "severity": self.severity,
            "confidence": self.confidence,
            "basis": self.basis,
            "title": self.title,
            "detail": self.detail,
            "fix": {"text": self.fix.text, "command": self.fix.command},
            "subject": self.subject,
            "train": self.train,
            "deploy": self.deploy,
            "location": _location_json(self.location),
            "related": [_location_json(place) for place in self.related],
            "expected": self.expected,
            "seen": self.seen,
            "series": list(self.series),
            "evidence": [
                {"fact": item.fact, "from": item.origin, "value": item.value}
                for item in self.evidence
            ],
            "because": list(self.because),
            "guards": list(self.guards),
            "alternatives": list(self.alternatives),
            "sources": list(self.sources),
            "explained_by": self.explained_by or None,
            "pre_existing": self.pre_existing,
            "waived": self.waived or None,
            "doc": f"envcheck explain {self.rule}",
        }


def _location_json(place: Location) -> dict[str, Any]:
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "layer": place.layer,
        "tensor": place.tensor,
        "batch": place.batch,
        "epoch": place.epoch,
    }


@record(kw_only=True)
class Outcome:
    """A rule that could not be decided for one subject, and why."""

    rule: str
    title: str
    subject: str
    severity: str
    reason: str
    stage: str = "environment"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data."""
        return {
            "rule": self.rule,
            "title": self.title,
            "subject": self.subject,
            "severity": self.severity,
            "reason": self.reason,
        }


@record(kw_only=True)
class Report:
    """Everything one run of envcheck has to say.

    `rules` counts the rules by outcome (`pass`, `finding`, `not_applicable`, `unknown`, `error`);
    `inputs` names the sides (`train`, `deploy`) with their origin and interpreter, for the head
    of a report; `notes` are sentences about the run itself, for instance which packages were
    taken as reachable and why.
    """

    findings: tuple[Finding, ...] = ()
    undetermined: tuple[Outcome, ...] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    checked: tuple[str, ...] = ("environment",)
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    strict: bool = False
    parity: Mapping[str, Any] | None = None
    """What a comparison of two models found, layer by layer; None where none was made."""
    open_stages: tuple[str, ...] = ()
    """Stages that were asked for and in which nothing could be decided."""

    @property
    def active(self) -> tuple[Finding, ...]:
        """The findings that are not waived, in rank order."""
        return tuple(finding for finding in self.findings if not finding.waived)

    def count(self, severity: str) -> int:
        """Return the number of findings of a severity that are not waived."""
        return sum(finding.severity == severity for finding in self.active)

    @property
    def rules_checked(self) -> int:
        """The number of rules that reached a decision: pass or finding."""
        return self.rules.get("pass", 0) + self.rules.get("finding", 0)

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`.

        `does_not_conform` with an error; `undetermined` when nothing was decided, at all or in a
        stage that was asked for, or, under `strict`, when a rule that could be an error ended
        unknown; else `conforms`.
        """
        if self.count("error"):
            return "does_not_conform"
        if self.rules_checked == 0 or self.open_stages:
            return "undetermined"
        if self.strict and any(item.severity == "error" for item in self.undetermined):
            return "undetermined"
        return "conforms"

    def stage(self, name: str) -> str:
        """Return the state of a stage: error, warning, pass or not_checked."""
        if name not in self.checked or name in self.open_stages or self.rules_checked == 0:
            return "not_checked"
        seen = {finding.severity for finding in self.active if finding.stage == name}
        return next((level for level in ("error", "warning") if level in seen), "pass")

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from importlib import import_module

        return str(import_module("envcheck.reporting.as_html").fragment(self))

    def to_json(self) -> dict[str, Any]:
        """Return the report as `envcheck.report/1`."""
        return {
            "schema": REPORT_SCHEMA,
            "verdict": self.verdict,
            "stages": {name: self.stage(name) for name in STAGES},
            "counts": {
                **{severity: self.count(severity) for severity in SEVERITIES},
                "undetermined": len(self.undetermined),
                "waived": len(self.findings) - len(self.active),
                "rules_checked": self.rules_checked,
            },
            "rules": {name: self.rules.get(name, 0) for name in OUTCOMES},
            "inputs": {side: dict(about) for side, about in self.inputs.items()},
            "notes": list(self.notes),
            "findings": [finding.to_json() for finding in self.findings],
            "undetermined": [outcome.to_json() for outcome in self.undetermined],
            **({} if self.parity is None else {"parity": dict(self.parity)}),
        }
