"""The eight statistics of a trace: FL4Deep (Morovati et al. 2024), table 1.

What a trace is too short for is missing (None), never 0: one epoch has no variance.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["STATISTICS", "describe"]

STATISTICS = ("min", "max", "median", "mean", "var", "std", "skew", "sem")


def describe(trace: Iterable[float | None]) -> dict[str, float | None]:
    """Return the eight statistics of the finite values of a trace, by name.

    Variance, standard deviation and the standard error of the mean are those of a sample
    (divided by n − 1) and need two values; skewness is the adjusted Fisher-Pearson coefficient
    (Joanes and Gill 1998, G1) and needs three values that differ.
    """
    values = [value for value in trace if value is not None and math.isfinite(value)]
    out: dict[str, float | None] = dict.fromkeys(STATISTICS)
    if not values:
        return out
    out["min"], out["max"] = min(values), max(values)
    out["median"], out["mean"] = statistics.median(values), statistics.fmean(values)
    if len(values) > 1:
        spread = statistics.stdev(values)
        out["var"], out["std"] = spread**2, spread
        out["sem"] = spread / math.sqrt(len(values))
        out["skew"] = _skewness(values, spread)
    return out


def _skewness(values: list[float], spread: float) -> float | None:
    count = len(values)
    if count < 3 or spread == 0:
        return None
    mean = statistics.fmean(values)
    third = sum(((value - mean) / spread) ** 3 for value in values)
    return third * count / ((count - 1) * (count - 2))
