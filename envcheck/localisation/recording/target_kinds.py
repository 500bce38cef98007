"""Tell class numbers from counts, labels from codes, and both from real numbers."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["target_kind"]

_MOST_CLASSES = 100_000
_ORDERED = 0.5
_FEW = 6
_SURE = 20


def target_kind(values: Any, dtype: str, *, sums_to_one: bool) -> str:
    """Return the kind of finite targets.

    One of binary, class-ids, one-hot, multi-label, probabilities, counts and real. `values` has
    the rows first; `dtype` is the type that the program gave them.
    """
    import numpy as np

    several = values.ndim > 1 and values.shape[-1] > 1
    zero_or_one = bool(((values == 0) | (values == 1)).all())
    if sums_to_one:
        return "one-hot" if zero_or_one else "probabilities"
    if zero_or_one:
        return "multi-label" if several else "binary"
    if not bool((values == np.floor(values)).all()):
        return "real"
    if not several and _are_signs(values):
        return "binary"
    return _whole_kind(values, dtype)


def _are_signs(values: Any) -> bool:
    return bool(((values == -1) | (values == 1)).all())


def _whole_kind(values: Any, dtype: str) -> str:
    """Return the kind of whole numbers: class numbers, counts, or rounded real numbers."""
    import numpy as np

    low, high = float(values.min()), float(values.max())
    if low < 0 or high >= _MOST_CLASSES:
        return "real" if low < 0 else "counts"
    counts = np.bincount(values.astype(np.int64).ravel())
    present = int((counts > 0).sum())
    from_the_start = low <= 1 and present >= 0.5 * (high - low + 1)
    if not from_the_start or (present > _SURE and values.size < 2 * present):
        return "class-ids" if _is_coded(values, dtype) else "counts"
    return "counts" if _are_ordered(counts[int(low) :]) else "class-ids"


def _is_coded(values: Any, dtype: str) -> bool:
    """Return whether sparse numbers can only be codes: the words of a text, as integers."""
    return values.ndim > 1 and values.shape[-1] > 1 and "int" in dtype


def _are_ordered(counts: Any) -> bool:
    """Return whether neighbouring numbers occur about equally often, which class numbers do not.

    That is the correlation of the histogram with itself shifted by one; for fewer than six
    numbers nothing can be said.
    """
    import numpy as np

    if counts.size < _FEW:
        return False
    centred = counts - counts.mean()
    scale = float(np.sum(centred**2))
    if scale <= 0:
        return False
    noise = math.sqrt(float(counts.mean()))
    if float(counts.std()) < 2 * noise:
        return False
    return float(np.sum(centred[:-1] * centred[1:])) / scale > _ORDERED
