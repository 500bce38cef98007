"""Two reports of one release as one: its environment, and the comparison of its models."""

from __future__ import annotations

from envcheck.findings import OUTCOMES, SEVERITIES, Report
from envcheck.records import replace

__all__ = ["merged"]


def merged(report: Report, models: Report) -> Report:
    """Return the report with the comparison of two models in it.

    Findings are ranked by severity, those of `report` first where it is the same. The models
    stand as the inputs `reference` and `candidate`. A report that decided nothing leaves its
    stages open, so that the whole is undetermined and not passed.
    """
    findings = sorted(
        (*report.findings, *models.findings), key=lambda item: SEVERITIES.index(item.severity)
    )
    ranked = tuple(replace(item, rank=rank) for rank, item in enumerate(findings, 1))
    undecided = [part for part in (report, models) if part.rules_checked == 0]
    return replace(
        report,
        findings=ranked,
        undetermined=(*report.undetermined, *models.undetermined),
        rules={
            name: report.rules.get(name, 0) + models.rules.get(name, 0) for name in OUTCOMES
        },
        checked=tuple(dict.fromkeys((*report.checked, *models.checked))),
        inputs={
            **report.inputs,
            "reference": models.inputs.get("train", {}),
            "candidate": models.inputs.get("deploy", {}),
        },
        notes=(*report.notes, *models.notes),
        parity=models.parity,
        open_stages=tuple(name for part in undecided for name in part.checked),
    )  # fmt: skip
