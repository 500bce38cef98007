"""What the curve of a loss says: its direction, its noise, and whether it was still moving.

Works on batch-level losses, so that a run of one epoch has a curve too. A question that a curve
is too short for is answered with None.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Blocks", "Tail", "blocks_of", "direction", "tail_of", "turns"]

_BLOCKS = 20
_LEAST_POINTS = 6
_TAIL = 0.2
_LEAST_TAIL = 8
_CERTAIN = 4.0
"""Standard errors beyond which a change is no noise."""
_MOST_LINES = 200
_MAD = 1.4826
"""Makes a median absolute deviation the standard deviation of normal noise."""


@dataclass(frozen=True)
class Blocks:
    """A curve as the medians of consecutive blocks, with the standard error of one of them."""

    levels: tuple[float, ...]
    error: float


@dataclass(frozen=True)
class Tail:
    """The last fifth of a curve: the share of its level that it lost, and how certain that is."""

    drop: float
    t_value: float

    @property
    def certain(self) -> bool:
        """Whether the tail falls beyond doubt."""
        return self.drop > 0 and self.t_value > _CERTAIN


def blocks_of(values: Sequence[float]) -> Blocks | None:
    """Return the blocks of a curve of finite values, or None for fewer than 6 points."""
    if len(values) < _LEAST_POINTS:
        return None
    count = min(_BLOCKS, len(values) // 3)
    cuts = [round(index * len(values) / count) for index in range(count + 1)]
    parts = [values[start:end] for start, end in itertools.pairwise(cuts)]
    levels = tuple(statistics.median(part) for part in parts)
    off = [abs(value - level) for part, level in zip(parts, levels, strict=True) for value in part]
    size = len(values) / count
    return Blocks(levels, _MAD * statistics.median(off) / math.sqrt(size))


def direction(blocks: Blocks) -> str:
    """Return where a curve goes: falling, rising or flat, by its first and last blocks."""
    first, last = blocks.levels[0], blocks.levels[-1]
    least = max(_CERTAIN * math.sqrt(2) * blocks.error, 0.01 * abs(first))
    if first - last > least:
        return "falling"
    if last - min(blocks.levels[: max(1, len(blocks.levels) // 4)]) > max(least, 0.1 * abs(first)):
        return "rising"
    return "flat"


def turns(blocks: Blocks) -> float:
    """Return the share of inner blocks at which a curve turns by more than its noise.

    A turn counts if both steps beside it exceed twice the error of a difference and 5 % of the
    median level.
    """
    steps = [after - before for before, after in itertools.pairwise(blocks.levels)]
    least = max(2 * math.sqrt(2) * blocks.error, 0.05 * abs(statistics.median(blocks.levels)))
    if len(steps) < 2:
        return 0.0
    found = sum(
        one * other < 0 and min(abs(one), abs(other)) > least
        for one, other in itertools.pairwise(steps)
    )
    return found / (len(steps) - 1)


def tail_of(values: Sequence[float]) -> Tail | None:
    """Return the tail of a curve, or None where it has fewer than 8 points.

    The slope is that of Theil and Sen (the median slope of all pairs of points); its certainty
    is the t-value of a least-squares line through the same points.
    """
    count = max(_LEAST_TAIL, round(_TAIL * len(values)))
    if len(values) < count:
        return None
    tail = _thinned(values[-count:])
    slope = statistics.median(
        (tail[j] - tail[i]) / (j - i) for i in range(len(tail)) for j in range(i + 1, len(tail))
    )
    level = abs(statistics.median(tail[: max(1, len(tail) // 3)]))
    drop = -slope * (len(tail) - 1) / level if level > 0 else 0.0
    return Tail(drop, _t_value(tail))


def _thinned(values: Sequence[float]) -> list[float]:
    """Return at most 200 values: medians of neighbours where there are more."""
    size = math.ceil(len(values) / _MOST_LINES)
    return [
        statistics.median(values[start : start + size]) for start in range(0, len(values), size)
    ]


def _t_value(values: Sequence[float]) -> float:
    """Return how many standard errors a least-squares line falls (positive) or rises."""
    count = len(values)
    centre, mean = (count - 1) / 2, statistics.fmean(values)
    spread = sum((index - centre) ** 2 for index in range(count))
    slope = sum((i - centre) * (value - mean) for i, value in enumerate(values)) / spread
    rest = sum((value - mean - slope * (i - centre)) ** 2 for i, value in enumerate(values))
    error = math.sqrt(rest / (count - 2) / spread)
    if error == 0:
        return math.copysign(math.inf, -slope) if slope else 0.0
    return -slope / error
