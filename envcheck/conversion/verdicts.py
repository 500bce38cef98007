"""The verdict of a comparison that ran to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.alignment import GOOD
from envcheck.conversion.noise import UNIT

if TYPE_CHECKING:
    from envcheck.conversion.investigation import Investigation
    from envcheck.conversion.outputs import OutputResult

__all__ = ["judge"]


def judge(found: Investigation) -> str:
    """Return the verdict of a comparison, or the one that had ended it earlier."""
    if found.comparison is None or found.verdict == "interface":
        return found.verdict
    if found.unstable:
        return "inconclusive"
    if found.failure is not None:
        return f"{found.failure.stage}-fail"
    agree = all(output.agrees for output in found.outputs)
    if found.precision is not None:
        return "mismatch" if found.precision.culprits or found.batches else "precision"
    if not agree or found.batches or (found.optimised and found.optimised.divergence):
        return "mismatch"
    if found.culprits or found.hidden or not all(kind in GOOD for kind in found.kinds.values()):
        return "absorbed"
    if _is_coarse(found):
        return "precision"
    close = all(_is_close(output, found.noise.unit) for output in found.outputs)
    return "match" if close else "noise"


def _is_coarse(found: Investigation) -> bool:
    """Return whether the reference computes in half precision, and the outputs show it."""
    room = 100 * UNIT["float32"]
    return found.noise.unit > UNIT["float32"] and any(o.error > room for o in found.outputs)


def _is_close(output: OutputResult, unit: float) -> bool:
    return output.error <= max(10 * output.noise, 8 * unit)
