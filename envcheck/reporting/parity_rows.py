"""A comparison of two models in rows and sentences, for every format but the terminal's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HEADS", "OUTCOMES", "number_text", "outcome_lines", "rows_of"]

HEADS = ("", "layer", "class", "kind", "error in the run", "error by itself", "noise", "ratio")
OUTCOMES = {
    "match": "same function", "noise": "same function, within a wide reading of rounding",
    "absorbed": "outputs agree, a layer does not", "precision": "lower precision throughout",
    "mismatch": "not the same function", "interface": "cannot be called alike",
    "convert-fail": "not converted", "load-fail": "does not load", "run-fail": "does not run",
    "inconclusive": "not comparable",
}  # fmt: skip
"""What each verdict of a comparison means."""
_MOST_OUTPUTS = 4


def outcome_lines(parity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the verdict, the outputs and the coverage, each with its label, not escaped."""
    verdict = str(parity["verdict"])
    told = [("parity", f"{verdict}: {OUTCOMES.get(verdict, '')}")]
    outputs = parity["outputs"]
    told += [("output", _output(output)) for output in outputs[:_MOST_OUTPUTS]]
    if len(outputs) > _MOST_OUTPUTS:
        told.append(("output", f"and {len(outputs) - _MOST_OUTPUTS} more outputs"))
    total = sum(parity["coverage"].values())
    if total:
        counts = ", ".join(f"{n} {kind}" for kind, n in parity["coverage"].items() if n)
        told.append(("layers", f"{total} calls: {counts}"))
    return told


def _output(output: Mapping[str, Any]) -> str:
    flips, decided = output.get("flips"), ""
    if flips is not None and output.get("decisions"):
        decided = f", {flips} of {output['decisions']} decisions flip"
    error, noise = output["error"], output["noise"]
    return (
        f"{output['name']}: off by {'infinity' if error is None else f'{error:.2g}'} (relative L2),"
        f" rounding alone {'infinity' if noise is None else f'{noise:.2g}'}{decided}"
    )


def rows_of(parity: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of texts for each call, under `HEADS`; the first cell marks the faults."""
    return [
        (
            "fault" if row["fault"] else "",
            str(row["layer"]),
            str(row.get("class") or ""),
            str(row["kind"]),
            *(number_text(row[name]) for name in ("natural_error", "local_error", "noise")),
            "" if row["ratio"] is None else f"{row['ratio']:.3g}",
        )
        for row in parity["layers"]
    ]


def number_text(value: Any) -> str:
    """Return a size in two digits; a dash where there is none."""
    if value is None:
        return "\u2013"
    return f"{value:.1e}" if value else "0"
