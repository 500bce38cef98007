"""Find arrays that may hold the same values in another order, without comparing them all.

A sketch (mean of absolute values, root mean square, mean) does not depend on the order of the
elements, and differs between unrelated tensors. Two arrays whose relative L2 error is `e` have
sketches that differ by at most `e` times the root mean square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.conversion.arrays import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.conversion.arrays import Array

__all__ = ["WINDOW", "Index", "Sketch", "sketch"]

WINDOW = 2e-3
"""Share of the root mean square within which sketches count as equal."""
_TINY = 1e-30


@dataclass(frozen=True)
class Sketch:
    """Mean of absolute values, root mean square and mean of the finite elements."""

    mean_abs: float
    rms: float
    mean: float


def sketch(array: Array) -> Sketch:
    """Return the sketch of an array of numbers."""
    import numpy as np

    flat = array.reshape(-1).astype(np.float64)
    if not np.isfinite(flat).all():
        flat = flat[np.isfinite(flat)]
    if flat.size == 0:
        return Sketch(0.0, 0.0, 0.0)
    rms = float(np.sqrt(np.dot(flat, flat) / flat.size))
    return Sketch(float(np.abs(flat).mean()), rms, float(flat.mean()))


class Index:
    """Named arrays of numbers by size and sketch."""

    def __init__(self, items: Iterable[tuple[str, Array]]) -> None:
        self._by_size: dict[int, list[tuple[str, Sketch]]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, array in items:
            self.add(name, array)

    def add(self, name: str, array: Array) -> None:
        """Add an array; what is not numbers, or empty, is left out."""
        if array.size and is_number(array):
            self._by_size.setdefault(array.size, []).append((name, sketch(array)))
            self.shapes[name] = tuple(array.shape)

    def of_size(self, size: int) -> list[str]:
        """Return the names of all arrays with that many elements."""
        return [name for name, _ in self._by_size.get(size, [])]

    def near(self, size: int, wanted: Sketch, window: float = WINDOW) -> list[str]:
        """Return the names of the arrays of a size whose sketch is as wanted."""
        room = window * wanted.rms + _TINY
        return [
            name
            for name, seen in self._by_size.get(size, [])
            if abs(seen.rms - wanted.rms) <= room
            and abs(seen.mean_abs - wanted.mean_abs) <= room
            and abs(seen.mean - wanted.mean) <= room
        ]
