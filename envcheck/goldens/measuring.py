"""How far one output is from another, in numbers that mean the same for every model."""

from __future__ import annotations

from typing import Any

from envcheck.records import record

__all__ = [
    "DRIFT",
    "EXACT",
    "NOISE",
    "Distance",
    "distance",
    "limit_for",
    "limit_of",
    "worst_error",
]

EXACT, NOISE, DRIFT = "exact", "noise", "drift"
_MARGIN = 10
"""A correct runtime came out at up to 2 times the noise; 10 leaves room, and a wrong weight or
a lost layer is far beyond it."""
_ROUNDINGS = 8
_UNIT = {"float16": 4.9e-4, "float32": 6.0e-8, "float64": 1.1e-16}


@record
class Distance:
    """One output compared with its recording.

    `error` is the largest relative error (root mean square) of a sample; `flips` counts the
    samples whose decision changed, of `decisions`, where the output is one.
    """

    name: str
    verdict: str
    error: float
    limit: float
    largest: float
    flips: int
    decisions: int
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the distance as JSON data; an infinite error is null."""
        finite = self.error < float("inf")
        return {
            "name": self.name,
            "verdict": self.verdict,
            "error": self.error if finite else None,
            "limit": self.limit,
            "largest": self.largest if finite else None,
            "flips": self.flips,
            "decisions": self.decisions,
            "note": self.note,
        }


def distance(name: str, value: Any, reference: Any, noise: float) -> Distance:
    """Compare an output with its recording; shapes must agree already."""
    import numpy as np

    error, limit = worst_error(value, reference), limit_of(reference, noise)
    same = value.dtype == reference.dtype and value.tobytes() == reference.tobytes()
    verdict = EXACT if same or error == 0 else NOISE if error <= limit else DRIFT
    flips, decisions = _flips(value, reference)
    largest = 0.0
    if reference.dtype.kind in "biuf" and reference.size and np.isfinite(error):
        gaps = np.abs(value.astype(np.float64) - reference.astype(np.float64))
        finite = gaps[np.isfinite(gaps)]
        largest = float(finite.max()) if finite.size else 0.0
    return Distance(name, verdict, error, limit, largest, flips, decisions)


def limit_of(reference: Any, noise: float) -> float:
    """Return the relative error up to which a difference is noise; integers have none."""
    return limit_for(str(reference.dtype), noise) if reference.dtype.kind == "f" else 0.0


def limit_for(dtype: str, noise: float) -> float:
    """Return the relative error up to which a difference of floats of this type is noise."""
    return _MARGIN * max(noise, _ROUNDINGS * _UNIT.get(dtype, 6.0e-8))


def worst_error(value: Any, reference: Any) -> float:
    """Return the largest relative error of a sample, the first axis counting samples.

    Text and integers: the share of elements that differ, of all. Not-a-number and infinities
    must stand at the same places, else the error is infinite.
    """
    import numpy as np

    if reference.dtype.kind != "f" or value.dtype.kind != "f":
        return float(np.mean(value != reference)) if reference.size else 0.0
    rows = reference.shape[0] if reference.ndim > 1 else 1
    a = value.reshape(rows, -1).astype(np.float64)
    b = reference.reshape(rows, -1).astype(np.float64)
    holes = ~np.isfinite(b)
    if holes.any() or not np.isfinite(a).all():
        if (
            not np.array_equal(a[holes], b[holes], equal_nan=True)
            or not np.isfinite(a[~holes]).all()
        ):
            return float("inf")
        a, b = np.where(holes, 0, a), np.where(holes, 0, b)
    if not b.size:
        return 0.0
    typical = float(np.sqrt(np.mean(b**2)))
    scale = np.maximum(np.sqrt(np.mean(b**2, axis=1)), max(1e-3 * typical, 1e-30))
    return float(np.max(np.sqrt(np.mean((a - b) ** 2, axis=1)) / scale))


def _flips(value: Any, reference: Any) -> tuple[int, int]:
    """Return how many decisions differ, and how many there are: top-1, or above one half."""
    import numpy as np

    if reference.dtype.kind != "f" or reference.ndim < 2 or not reference.size:
        return 0, 0
    if reference.shape[-1] > 1:
        pair = [np.argmax(side, axis=-1) for side in (value, reference)]
    elif reference.min() >= 0 and reference.max() <= 1:
        pair = [side > 0.5 for side in (value, reference)]
    else:
        return 0, 0
    return int(np.sum(pair[0] != pair[1])), int(pair[0].size)
