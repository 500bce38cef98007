"""What kind of data an array looks like: images, tokens, one-hot codes, tables, sequences."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["looks_like"]

_CHANNELS = (1, 3, 4)
_SMALLEST_SIDE = 8
_FLAT_IMAGE = 64
_NEIGHBOURS = 0.3
_ROWS = 2000


def looks_like(values: Any) -> str:
    """Return image, tabular, tokens, one-hot, sequence or unknown for rows of finite numbers."""
    import numpy as np

    values = values[:_ROWS]
    rank = values.ndim - 1
    if _is_one_hot(values):
        return "one-hot"
    if rank >= 3:
        return "image" if _has_sides(values.shape[1:]) else "unknown"
    if rank == 2:
        square = min(values.shape[1:]) >= _SMALLEST_SIDE and _is_grey(values)
        return "image" if square and values.shape[1] == values.shape[2] else "sequence"
    if rank == 1 and values.shape[1] > 1:
        whole = bool((values == np.floor(values)).all()) and float(values.min()) >= 0
        if _is_flat_image(values):
            return "image"
        return "tokens" if whole and _are_tokens(values) else "tabular"
    return "tabular"


def _has_sides(shape: tuple[int, ...]) -> bool:
    """Return whether a row has the sides and the channels of an image."""
    last = shape[-1] in _CHANNELS and min(shape[-3:-1]) >= _SMALLEST_SIDE
    first = len(shape) == 3 and shape[0] in _CHANNELS and min(shape[1:]) >= _SMALLEST_SIDE
    return last or first or (len(shape) == 3 and shape[0] == shape[1] >= _SMALLEST_SIDE)


def _is_one_hot(values: Any) -> bool:
    """Return whether each row, or each place of it, has a single one among zeros."""
    import numpy as np

    if values.ndim < 2 or values.shape[-1] < 2:
        return False
    places = values.reshape(-1, values.shape[-1])
    ones = places == 1
    return bool((ones | (places == 0)).all()) and bool((np.sum(ones, axis=1) == 1).all())


def _is_grey(values: Any) -> bool:
    return float(values.min()) >= 0 and float(values.max()) <= 255


def _is_flat_image(values: Any) -> bool:
    """Return whether a row may be a square grey image whose pixels resemble their neighbours."""
    width = values.shape[1]
    side = math.isqrt(width)
    if width < _FLAT_IMAGE or side * side != width or not _is_grey(values):
        return False
    squares = values.reshape(-1, side, side)
    return min(_likeness(squares, axis) for axis in (1, 2)) > _NEIGHBOURS


def _likeness(squares: Any, axis: int) -> float:
    """Return the correlation of neighbours along an axis, each pixel's own mean taken off."""
    import numpy as np

    centred = squares - squares.mean(axis=0)
    size = squares.shape[axis]
    first = np.take(centred, range(size - 1), axis=axis).ravel()
    second = np.take(centred, range(1, size), axis=axis).ravel()
    scale = math.sqrt(float((first**2).sum()) * float((second**2).sum()))
    return float((first * second).sum()) / scale if scale > 0 else 0.0


def _are_tokens(values: Any) -> bool:
    """Return whether columns of whole numbers share one range, as the words of a text do."""
    import numpy as np

    if values.shape[1] < 4 or np.unique(values).size < 10:
        return False
    highest = values.max(axis=0)
    return bool((highest >= 0.25 * highest.max()).mean() >= 0.5)
