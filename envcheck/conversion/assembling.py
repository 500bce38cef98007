"""The report of one comparison, in the form that every format renders."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from envcheck.conversion.faults import faults_of
from envcheck.conversion.judgement import (
    RULES,
    conversion_findings,
    findings_of,
    undecided,
)
from envcheck.conversion.outputs import finite
from envcheck.findings import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.converting import Conversion
    from envcheck.conversion.faults import Fault
    from envcheck.conversion.inputs import Samples
    from envcheck.conversion.investigation import Investigation

__all__ = ["failed_conversion", "ranked", "report_of", "shown_inputs", "sides_of"]


_NOISE = {
    "fixed": "a fixed guess",
    "spread": "the spread of the reference's own runs (last bits changed, one sample at a time)",
    "float64": "measured against float64",
}


def report_of(
    found: Investigation,
    *,
    reference: str,
    candidate: str,
    identity: dict[str, Any],
    conversion: Conversion | None = None,
    faults: Sequence[Fault] | None = None,
) -> Report:
    """Return the report of a comparison that reached a verdict."""
    faults = faults_of(found) if faults is None else faults
    shown = os.path.basename(candidate) or candidate
    findings = ranked(findings_of(found, faults, shown, conversion))
    return Report(
        findings=findings,
        undetermined=tuple(undecided(found)),
        rules=_counts(findings, decided=found.verdict != "inconclusive"),
        checked=("conversion",),
        inputs=sides_of(reference, candidate, identity),
        notes=tuple(_notes(found, conversion)),
        parity=_parity(found, faults),
    )


def failed_conversion(
    conversion: Conversion, samples: Samples | None, reference: str, paths: Sequence[str] = ()
) -> Report:
    """Return the report of a conversion that gave no file."""
    findings = ranked(conversion_findings(conversion, os.path.basename(reference), paths))
    return Report(
        findings=findings,
        rules=_counts(findings, decided=True),
        checked=("conversion",),
        inputs=sides_of(reference, "", {}),
        parity={
            "verdict": "convert-fail",
            "coverage": dict.fromkeys(("exact", "alias", "folded", "open"), 0),
            "faults": [],
            "outputs": [],
            "layers": [],
            "inputs": shown_inputs(samples),
        },
    )


def ranked(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity; among faults the first layer stays first."""
    from envcheck.records import replace

    order = {"error": 0, "warning": 1, "info": 2}
    ordered = sorted(findings, key=lambda finding: order[finding.severity])
    return tuple(replace(finding, rank=place + 1) for place, finding in enumerate(ordered))


def _counts(findings: Sequence[Finding], *, decided: bool) -> dict[str, int]:
    """Return the number of rules by outcome."""
    if not decided:
        return {"pass": 0, "finding": 0, "unknown": 1}
    fired = len({finding.rule for finding in findings})
    return {"pass": len(RULES) - 1 - fired, "finding": fired, "unknown": 0}


def sides_of(reference: str, candidate: str, identity: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return where both sides come from and what runs them."""
    here = {
        "implementation": platform.python_implementation().lower(),
        "python": platform.python_version(),
        "system": platform.system().lower(),
        "architecture": platform.machine(),
    }
    return {
        "train": {"place": reference, **here, "runtime": _versions(("tensorflow", "keras"))},
        "deploy": {"place": candidate, **here, "runtime": identity},
    }


def _versions(names: Sequence[str]) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _notes(found: Investigation, conversion: Conversion | None) -> list[str]:
    notes = [found.samples.note] if found.samples.note else []
    if conversion is not None and not conversion.cached:
        notes.append(f"converted here by tf2onnx {conversion.versions.get('tf2onnx', '')}, from"
                     " the model's inference (training=False)")  # fmt: skip
    elif conversion is not None:
        notes.append("converted earlier, from the same file with the same settings")
    if found.comparison is not None and found.comparison.candidate.name == "savedmodel":
        notes.append("a SavedModel shows inputs and outputs alone, so no layer was compared")
    if found.comparison is not None and found.noise.reason:
        notes.append(f"the noise floor is {_NOISE[found.noise.method]}, since {found.noise.reason}")
    return notes


def shown_inputs(samples: Samples | None) -> dict[str, Any]:
    """Return digest, origin and shapes of the samples."""
    if samples is None:
        return {"sha256": None, "origin": "invented"}
    shapes = {
        name: list(value.shape) for name, value in zip(samples.names, samples.values, strict=True)
    }
    return {"sha256": samples.sha256, "origin": samples.origin, "shapes": shapes}


def _parity(found: Investigation, faults: Sequence[Fault]) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "coverage": found.coverage,
        "faults": [fault.to_json() for fault in faults],
        "outputs": [output.to_json() for output in found.outputs],
        "layers": _layers(found, faults),
        "inputs": shown_inputs(found.samples),
        "noise": {
            "method": found.noise.method,
            "unit": found.noise.unit,
            "reason": found.noise.reason,
        },
        "runs": found.comparison.runs if found.comparison else 0,
    }


def _layers(found: Investigation, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Return one row per layer call, in order: the table and the plot by depth."""
    if found.recording is None or not found.kinds:
        return []
    guilty = {call for fault in faults for call in fault.calls}
    rows = []
    for call in found.recording.calls:
        port = next((port for port in call.outputs if port.call == call.id), None)
        match = found.matches.get(port) if port else None
        noise = found.noise.of(port) if port else None
        local = found.local.get(port) if port else None
        rows.append({
            "layer": call.label,
            "class": call.layer_class,
            "kind": found.kinds[call.id],
            "tensor": match.tensor if match else None,
            "layout": match.layout.kind if match else None,
            "natural_error": finite(found.natural.get(port)) if port else None,
            "local_error": finite(local),
            "noise": finite(noise),
            "ratio": finite(local / noise) if local is not None and noise else None,
            "fault": call.id in guilty,
        })  # fmt: skip
    return rows
