"""The report as Prometheus text, for the textfile collector of node-exporter.

Labels are of closed lists, but for the two digests: the number of series never grows with what
a fingerprint holds.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from envcheck.findings import OUTCOMES, SEVERITIES, STAGES, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Report
    from envcheck.reporting.style import Style

__all__ = ["render"]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_STATES = ("error", "warning", "pass", "not_checked")
_Sample = tuple[dict[str, str], float]


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as metrics; the clock is read for the time of the run."""
    counts = report.to_json()["counts"]
    families: list[tuple[str, str, Iterable[_Sample]]] = [
        ("conforms", "Whether the deploy environment conforms to the train environment.",
         [({}, report.verdict == "conforms")]),
        ("verdict", "The verdict: 1 for the one that holds.",
         [({"verdict": name}, name == report.verdict) for name in VERDICTS]),
        ("findings", "Findings that are not waived.",
         [({"severity": name}, counts[name]) for name in SEVERITIES]),
        ("waived_findings", "Findings that a waiver or the baseline accepts.",
         [({}, counts["waived"])]),
        ("undetermined", "Outcomes that could not be decided.", [({}, counts["undetermined"])]),
        ("rules_checked", "Rules that reached a decision.", [({}, counts["rules_checked"])]),
        ("rules", "Rules by how they ended.",
         [({"outcome": name}, report.rules.get(name, 0)) for name in OUTCOMES]),
        ("stage", "The state of each stage: 1 for the one that holds.",
         [({"stage": name, "state": state}, report.stage(name) == state)
          for name in STAGES for state in _STATES]),
        ("fingerprint_info", "The digest of the facts of each side.", _digests(report)),
        ("last_run_timestamp_seconds", "When this was written.", [({}, int(time.time()))]),
    ]  # fmt: skip
    return "".join(_family(*family) for family in families)


def _family(name: str, meaning: str, samples: Iterable[_Sample]) -> str:
    lines = [f"envcheck_{name}{_labels(labels)} {float(value):.15g}\n" for labels, value in samples]
    if not lines:
        return ""
    head = f"# HELP envcheck_{name} {meaning}\n# TYPE envcheck_{name} gauge\n"
    return head + "".join(lines)


def _labels(labels: dict[str, str]) -> str:
    told = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _digests(report: Report) -> list[_Sample]:
    found = []
    for side in ("train", "deploy"):
        digest = str(report.inputs.get(side, {}).get("digest") or "")
        if _DIGEST.fullmatch(digest):
            found.append(({"side": side, "digest": digest}, 1.0))
    return found
