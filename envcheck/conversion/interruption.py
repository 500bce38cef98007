"""The report of a comparison whose process was ended before it had a result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from envcheck.conversion.assembling import ranked, shown_inputs, sides_of
from envcheck.conversion.rules import finding_of
from envcheck.findings import Outcome, Report

if TYPE_CHECKING:
    from envcheck.conversion.isolation import Told
    from envcheck.findings import Finding

__all__ = ["interrupted"]

_SIDES = {
    "": ("reference", "load"),
    "loading the reference": ("reference", "load"),
    "recording the reference": ("reference", "run"),
    "converting to ONNX": ("reference", "run"),
    "loading the candidate": ("candidate", "load"),
    "running the candidate": ("candidate", "run"),
}
"""By step: which side a crash is to be blamed on, and what it was doing. Other steps are ours."""


def interrupted(told: Told, reference: str, candidate: str | None) -> Report:
    """Return what is known: a crash of a runtime is a finding, one of ours leaves it undecided.

    Where the outputs had been compared by then and differ, that is the finding.
    """
    verdict, findings, undecided = _judged(told, reference, candidate)
    made = ranked(findings)
    notes = [told.known["note"]] if told.known.get("note") else []
    return Report(
        findings=made,
        undetermined=tuple(undecided),
        rules={"finding": len(made), "unknown": len(undecided)},
        checked=("conversion",),
        inputs=sides_of(reference, candidate or "", {}),
        notes=tuple(notes),
        parity={
            "verdict": verdict,
            "coverage": dict.fromkeys(("exact", "alias", "folded", "open"), 0),
            "faults": [],
            "outputs": told.known.get("outputs", []),
            "layers": [],
            "inputs": told.known.get("inputs") or shown_inputs(None),
        },
    )


def _judged(
    told: Told, reference: str, candidate: str | None
) -> tuple[str, list[Finding], list[Outcome]]:
    shown = _name(candidate) if candidate else f"the conversion of {_name(reference)}"
    side = _SIDES.get(told.step)
    if side is not None:
        blamed = _name(reference) if side[0] == "reference" else shown
        stage = "load" if side == ("candidate", "load") else "run"
        found = _runtime(
            stage, blamed, did=side[1], side=side[0], ended=told.ended, step=told.step, log=told.log
        )
        return f"{stage}-fail", [found], []
    outputs = told.known.get("outputs", [])
    if outputs and not told.known.get("agree", True):
        return "mismatch", [_outputs(outputs, shown, _unfinished(told))], []
    return "inconclusive", [], [_outcome(told, shown)]


def _runtime(  # noqa: PLR0913 - all keyword-only
    stage: str, blamed: str, *, did: str, side: str, ended: str, step: str, log: str
) -> Finding:
    """Return the finding about a runtime that took its process down, or went beyond a limit."""
    limit = " limit of " in ended
    fix = (
        "Give it more with --memory-limit or --time-limit, or compare fewer or smaller samples with"
        " --inputs."
        if limit
        else "Run it under another version or build of the runtime; if it ends there too, replace"
        " the operation that the log names."
    )
    words = next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
    return finding_of(
        "CNV002" if stage == "load" else "CNV003",
        title=f"{blamed} does not {did}: {ended}",
        detail=f"It happened while {step or 'the process started'}. Nothing was compared"
        + ("." if limit else f"; deployed, the {side} would end the process that serves it."),
        fix=fix,
        subject=blamed,
        evidence=[("step", step), ("ended", ended)] + ([("log", words[:300])] if words else []),
    )


def _outputs(outputs: list[dict[str, Any]], candidate: str, unfinished: str) -> Finding:
    """Return the finding about outputs that had been compared, and differ."""
    off = [o for o in outputs if o["error"] is None or o["error"] > o["tolerance"]]
    worst = max(off, key=lambda o: float("inf") if o["error"] is None else float(o["error"]))
    size = "beyond measure" if worst["error"] is None else f"by {worst['error']:.2g}"
    return finding_of(
        "CNV015",
        title=f"output {worst['name']} is off {size}",
        detail=f"No layer could be named: {unfinished}.",
        fix="Give the comparison more memory or time, or fewer samples: then every layer is"
        " compared.",
        subject=f"output {worst['name']} of {candidate}",
    )


def _outcome(told: Told, shown: str) -> Outcome:
    return Outcome(
        rule="CNV010",
        title="a comparison that did not end",
        subject=shown,
        severity="error",
        reason=_unfinished(told) + ("; the outputs agree" if told.known.get("outputs") else ""),
        stage="conversion",
    )


def _unfinished(told: Told) -> str:
    return f"the layers were not compared: {told.ended}, while {told.step}"


def _name(path: Any) -> str:
    return os.path.basename(str(path).rstrip("/")) or str(path)
