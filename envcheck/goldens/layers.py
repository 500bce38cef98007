"""Digests of what each layer gives: small, and alike where the values are alike.

A hash of the bytes would differ at the first rounding. These digests are count sketches (M.
Charikar, K. Chen and M. Farach-Colton, "Finding frequent items in data streams", 2002, section
3): every element goes with a random sign into one of 64 sums. The distance of two sketches
estimates the Euclidean distance of the arrays without bias in the square, with a standard
deviation of about a tenth, however large they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.records import record, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Array = Any

__all__ = ["WIDTH", "Layer", "digest", "error_between", "with_noise"]

WIDTH = 64
"""Sums in a sketch."""
_CHUNK = 1 << 20


@record
class Layer:
    """What one layer gave: the sketch of its finite values, and how many were not finite.

    `norm` is the Euclidean norm of the finite values, `noise` the largest relative error that a
    change of setting made.
    """

    name: str
    kind: str
    dtype: str
    size: int
    norm: float
    holes: int
    sketch: Array
    noise: float = 0.0


def digest(name: str, kind: str, value: Array) -> Layer | None:
    """Return the digest of a layer's output; None where it has no fractions or no elements."""
    import numpy as np

    if value.dtype.kind != "f" or not value.size:
        return None
    flat = value.reshape(-1).astype(np.float64)
    finite = np.isfinite(flat)
    flat = np.where(finite, flat, 0.0)
    holes = int(flat.size - np.count_nonzero(finite))
    norm = float(np.linalg.norm(flat))
    return Layer(name, kind, str(value.dtype), int(flat.size), norm, holes, _sketch(flat))


def _sketch(flat: Array) -> Array:
    import numpy as np

    sums = np.zeros(WIDTH)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        mixed = _mixed(np.arange(start, start + part.size, dtype=np.uint64))
        signs = np.where(mixed >> np.uint64(63), 1.0, -1.0)
        places = (mixed & np.uint64(WIDTH - 1)).astype(np.int64)
        sums += np.bincount(places, weights=signs * part, minlength=WIDTH)
    return sums


def _mixed(numbers: Array) -> Array:
    """Return SplitMix64 of each number: the same on every machine and in every numpy."""
    import numpy as np

    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def error_between(value: Layer, reference: Layer) -> float:
    """Return the estimated relative error; infinite where size or non-finite values differ."""
    import numpy as np

    if (value.size, value.holes) != (reference.size, reference.holes):
        return float("inf")
    gap = float(np.linalg.norm(value.sketch - reference.sketch))
    return gap / max(reference.norm, 1e-12 * float(np.sqrt(reference.size)))


def with_noise(layers: Sequence[Layer], others: Iterable[Layer]) -> tuple[Layer, ...]:
    """Return the layers with at least the noise that another run of the same model shows."""
    known = {layer.name: layer for layer in others}
    return tuple(
        replace(layer, noise=max(layer.noise, min(error_between(known[layer.name], layer), 0.999)))
        if layer.name in known
        else layer
        for layer in layers
    )
