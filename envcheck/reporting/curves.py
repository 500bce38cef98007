"""Curves to plot: read from a report, which may hold anything, and brought to scale."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from envcheck.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Curve", "Scale", "read_curves"]

_MOST_CURVES = 6
_MOST_POINTS = 400
_MOST_DECADES = 307
_LARGEST = sys.float_info.max
_WIDE = 1000.0
"""Ratio of the greatest value to the least beyond which a scale is logarithmic."""


@record(kw_only=True)
class Curve:
    """A labelled line; `points` are pairs of x and y, y None where it is not a finite number."""

    label: str
    points: tuple[tuple[float, float | None], ...]

    @property
    def values(self) -> list[float]:
        """The finite values of y."""
        return [y for _, y in self.points if y is not None]

    def in_words(self) -> str:
        """Return what the line shows, for who cannot see it."""
        known = [(x, y) for x, y in self.points if y is not None]
        if not known:
            return f"{self.label}: no finite value in {len(self.points)} points"
        (x1, y1), (x2, y2) = known[0], known[-1]
        told = f"{self.label}: from {y1:.3g} at {x1:g} to {y2:.3g} at {x2:g}"
        told += f", least {min(self.values):.3g}, greatest {max(self.values):.3g}"
        lost = len(self.points) - len(known)
        return f"{told}; {lost} of {len(self.points)} points not finite" if lost else told


@record(kw_only=True)
class Scale:
    """A map from values between `low` and `high` to a position from 0 to 1."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, values: Iterable[float], *, log: bool | None = None) -> Scale:
        """Return the scale that shows all values; logarithmic where they span far."""
        known = list(values) or [0.0, 1.0]
        low, high = min(known), max(known)
        if log is None:
            log = low > 0 and high / low > _WIDE
        if log:
            first = max(math.floor(math.log10(low) + 1e-9), -_MOST_DECADES)
            last = max(math.ceil(math.log10(high) - 1e-9), first + 1)
            return cls(low=10.0**first, high=10.0 ** min(last, _MOST_DECADES), log=True)
        if low == high:
            pad = abs(low) / 2 or 1.0
            low, high = max(low - pad, -_LARGEST), min(high + pad, _LARGEST)
        return cls(low=low, high=high)

    def at(self, value: float) -> float:
        """Return where a value stands, from 0 to 1; values beyond stand at the edge."""
        low, high = self.low, self.high
        if self.log:
            if value <= low:
                return 0.0
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        span = high / 2 - low / 2  # the whole may be beyond the range of a float
        place = (value / 2 - low / 2) / span if span > 0 else 0.0
        return min(max(place, 0.0), 1.0)

    def ticks(self, most: int = 5) -> list[float]:
        """Return the values to write at the axis: powers of ten, or both ends and the middle."""
        if not self.log:
            return [self.low, self.low / 2 + self.high / 2, self.high]
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        step = max(1, math.ceil((last - first) / (most - 1)))
        return [10.0**power for power in range(first, last + 1, step)]


def read_curves(series: Sequence[Any]) -> list[Curve]:
    """Return the curves of a finding; whatever is none is left out.

    A curve is `{"label": text, "points": [[x, y], …]}`; bare numbers are one curve by position.
    """
    if series and all(_is_number(item) for item in series):
        series = [{"label": "value", "points": list(enumerate(series))}]
    read = (_curve(item) for item in series)
    return [curve for curve in read if curve is not None][:_MOST_CURVES]


def _curve(item: Any) -> Curve | None:
    if not isinstance(item, dict) or not isinstance(item.get("points"), list | tuple):
        return None
    points = []
    for pair in item["points"][:_MOST_POINTS]:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not _is_number(pair[0]):
            return None
        points.append((float(pair[0]), float(pair[1]) if _is_number(pair[1]) else None))
    return Curve(label=str(item.get("label") or "value"), points=tuple(points)) if points else None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
