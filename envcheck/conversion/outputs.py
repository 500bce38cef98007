"""Compare the models' outputs: how far apart, and how many decisions flip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import is_exact_kind, relative_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Recording

__all__ = ["OutputResult", "compare_output", "pair_outputs"]

_NEAR_ONE = 1e-3


@dataclass(frozen=True, kw_only=True)
class OutputResult:
    """One output of the model on both sides.

    `error` is the relative L2 error, `noise` the reference's own. `largest` is the greatest
    absolute difference, at index `worst`. `flips` counts samples whose decision changes (the
    largest class, or the side of 0.5), of `decisions`; None where an output makes none.
    """

    name: str
    tensor: str
    shape: tuple[int, ...]
    error: float
    noise: float
    tolerance: float
    largest: float = 0.0
    worst: tuple[int, ...] = ()
    cosine: float | None = None
    sqnr_db: float | None = None
    flips: int | None = None
    decisions: int = 0
    divergence: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the outputs are the same within rounding."""
        return self.error <= self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Return the result as `envcheck.report/1` spells it."""
        return {
            "name": self.name,
            "tensor": self.tensor,
            "shape": list(self.shape),
            "error": finite(self.error),
            "noise": finite(self.noise),
            "tolerance": finite(self.tolerance),
            "largest": finite(self.largest),
            "worst": list(self.worst),
            "cosine": finite(self.cosine),
            "sqnr_db": finite(self.sqnr_db),
            "flips": self.flips,
            "decisions": self.decisions,
            "kl_divergence": finite(self.divergence),
        }


def finite(value: float | None) -> float | None:
    """Return a number that JSON can hold: None for infinity and not-a-number."""
    import math

    return None if value is None or not math.isfinite(value) else float(value)


def pair_outputs(
    recording: Recording, names: Sequence[str], values: Mapping[str, Array]
) -> list[str] | None:
    """Return the candidate's output for each of the reference's, or None if they do not fit.

    The order decides, unless sizes or values say otherwise.
    """
    left = list(names)
    chosen: list[str] = []
    for place, port in enumerate(recording.outputs):
        wanted = recording.value(port)
        fitting = [name for name in left if values[name].size == wanted.size]
        if not fitting:
            return None
        own = names[place] if place < len(names) else ""
        best = min(fitting, key=lambda name: (_distance(values[name], wanted), name != own))
        pick = own if own in fitting and _distance(values[own], wanted) <= 1e-3 else best
        if own in fitting and _distance(values[best], wanted) > 1e-3:
            pick = own
        left.remove(pick)
        chosen.append(pick)
    return chosen


def _distance(value: Array, wanted: Array) -> float:
    if value.dtype.kind in "OSU" or wanted.dtype.kind in "OSU":
        return 0.0 if value.shape == wanted.shape and bool((value == wanted).all()) else 1.0
    return relative_error(value, wanted)


def compare_output(
    value: Array, wanted: Array, *, name: str, tensor: str, noise: float, tolerance: float
) -> OutputResult:
    """Return all figures about one output; both sides have the reference's shape."""
    import numpy as np

    shape = tuple(int(size) for size in wanted.shape)
    exact = is_exact_kind(wanted) or wanted.dtype.kind in "OSU"
    common: dict[str, Any] = {
        "name": name, "tensor": tensor, "shape": shape, "error": _distance(value, wanted),
        "noise": noise, "tolerance": 0.0 if exact else tolerance,
    }  # fmt: skip
    if wanted.dtype.kind in "OSU" or wanted.size == 0:
        return OutputResult(**common)
    a, b = value.astype(np.float64).reshape(shape), wanted.astype(np.float64)
    gap = np.nan_to_num(np.abs(a - b), nan=0.0, posinf=0.0)
    worst = np.unravel_index(int(np.argmax(gap)), gap.shape) if gap.size else ()
    flips, decisions = _flips(a, b)
    return OutputResult(
        **common,
        largest=float(gap.max()),
        worst=tuple(int(place) for place in worst),
        cosine=_cosine(a, b),
        sqnr_db=_sqnr(a, b),
        flips=flips,
        decisions=decisions,
        divergence=_kl(a, b),
    )


def _cosine(a: Array, b: Array) -> float | None:
    import numpy as np

    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.sum(a * b)) / norms if norms > 0 and np.isfinite(norms) else None


def _sqnr(a: Array, b: Array) -> float | None:
    import numpy as np

    noise = float(np.linalg.norm(a - b))
    signal = float(np.linalg.norm(b))
    return 20 * float(np.log10(signal / noise)) if noise > 0 and signal > 0 else None


def _flips(a: Array, b: Array) -> tuple[int | None, int]:
    """Return how many decisions change and how many there are; None where there are none."""
    import numpy as np

    if b.ndim >= 2 and b.shape[-1] > 1:
        changed = np.argmax(a, axis=-1) != np.argmax(b, axis=-1)
        return int(changed.sum()), int(changed.size)
    if np.all((b >= 0) & (b <= 1)):
        changed = (a >= 0.5) != (b >= 0.5)
        return int(changed.sum()), int(changed.size)
    return None, 0


def _kl(a: Array, b: Array) -> float | None:
    """Return the mean Kullback-Leibler divergence where both sides are probabilities."""
    import numpy as np

    if b.ndim < 2 or b.shape[-1] < 2 or np.any(b < 0) or np.any(a < 0):
        return None
    if np.any(np.abs(b.sum(-1) - 1) > _NEAR_ONE) or np.any(np.abs(a.sum(-1) - 1) > _NEAR_ONE):
        return None
    p, q = np.clip(b, 1e-30, 1), np.clip(a, 1e-30, 1)
    return float(np.mean(np.sum(p * np.log(p / q), axis=-1)))
