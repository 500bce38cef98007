"""Read a fault off the shape of the error: where the values differ, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

    from envcheck.conversion.arrays import Array

__all__ = ["error_causes"]

_EXPLAINED = 1e-4
"""Relative error up to which a hypothesis accounts for the values."""


def error_causes(seen: Array, wanted: Array, tolerance: float) -> list[Cause]:
    """Return what the difference between a layer's two values looks like.

    Both have the reference's shape, and were computed from the same inputs.
    """
    import numpy as np

    a, b = seen.astype(np.float64), wanted.astype(np.float64)
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        return [_holes(a, b)] if not np.array_equal(np.isfinite(a), np.isfinite(b)) else []
    checks: tuple[Callable[[Array, Array, float], Cause | None], ...] = (
        _sign, _scale, _offset, _reciprocal, _direction, _permuted, _clipped, _border, _channels,
        _one_sign, _one_sample,
    )  # fmt: skip
    found = [check(a, b, max(tolerance, 1e-6)) for check in checks]
    return [cause for cause in found if cause is not None][:3]


def _holes(a: Array, b: Array) -> Cause:
    import numpy as np

    here, there = int((~np.isfinite(a)).sum()), int((~np.isfinite(b)).sum())
    return Cause(
        kind="non-finite", strength=3,
        text=f"{here} values of the candidate are not finite, {there} of the reference",
    )  # fmt: skip


def _sign(a: Array, b: Array, _: float) -> Cause | None:
    if relative_error(-a, b) < _EXPLAINED:
        return Cause(kind="sign", text="the candidate has the opposite sign everywhere")
    return None


def _scale(a: Array, b: Array, _: float) -> Cause | None:
    import numpy as np

    power = float(np.sum(b * b))
    if power == 0 or b.size < 3:
        return None
    factor = float(np.sum(a * b)) / power
    if factor and np.linalg.norm(a - factor * b) <= 0.01 * np.linalg.norm(a - b):
        return Cause(kind="scale", text=f"the candidate is the reference times {factor:.6g}")
    return None


def _offset(a: Array, b: Array, _: float) -> Cause | None:
    import numpy as np

    gap = a - b
    rest = float(np.linalg.norm(gap - gap.mean()))
    if rest <= 0.01 * float(np.linalg.norm(gap)):
        return Cause(kind="offset", text=f"the candidate is off by {gap.mean():.6g} everywhere")
    if b.ndim >= 2 and gap.reshape(-1, b.shape[-1]).shape[0] > 1:
        rows = gap.reshape(-1, b.shape[-1])
        if np.linalg.norm(rows - rows.mean(0)) <= 0.01 * np.linalg.norm(rows):
            return Cause(kind="offset", text="the candidate is off by one constant per channel")
    return None


def _reciprocal(a: Array, b: Array, _: float) -> Cause | None:
    import numpy as np

    if np.all(a != 0) and relative_error(1 / a, b) < _EXPLAINED:
        return Cause(kind="reciprocal", text="the candidate is the reciprocal of the reference")
    return None


def _direction(a: Array, b: Array, _: float) -> Cause | None:
    import numpy as np

    for axis in range(1, b.ndim):
        if b.shape[axis] > 1 and relative_error(np.flip(a, axis), b) < _EXPLAINED:
            return Cause(kind="direction", text=f"the candidate is reversed along axis {axis}")
    return None


def _permuted(a: Array, b: Array, _: float) -> Cause | None:
    import numpy as np

    if b.size > 8 and relative_error(np.sort(a, axis=None), np.sort(b, axis=None)) < 1e-6:
        return Cause(kind="order", text="the candidate holds the same values in another order")
    return None


def _clipped(a: Array, b: Array, tolerance: float) -> Cause | None:
    """One side stops at a limit that the other exceeds."""
    import numpy as np

    off = np.abs(a - b) > tolerance * max(float(np.abs(b).max()), 1e-30)
    if not off.any() or off.all():
        return None
    for limited, other, side in ((a, b, "candidate"), (b, a, "reference")):
        limit = float(limited.max())
        stuck = limited[off]
        if limit and np.all(stuck == limit) and np.all(other[off] > limit):
            return Cause(kind="clipping", text=f"only the {side} stops at {limit:.6g}")
    return None


def _border(a: Array, b: Array, tolerance: float) -> Cause | None:
    """Differences at the rim of the spatial axes alone."""
    import numpy as np

    if b.ndim not in (4, 5) or min(b.shape[1:-1]) < 4:
        return None
    off = np.abs(a - b) > tolerance * max(float(np.abs(b).max()), 1e-30)
    inner = off[(slice(None), *(slice(1, -1) for _ in b.shape[1:-1]))]
    if off.any() and not inner.any():
        return Cause(kind="border", text="the values differ at the border of the image alone")
    return None


def _channels(a: Array, b: Array, tolerance: float) -> Cause | None:
    import numpy as np

    if b.ndim < 2 or b.shape[-1] < 3:
        return None
    off = np.abs(a - b) > tolerance * max(float(np.abs(b).max()), 1e-30)
    touched = np.flatnonzero(off.reshape(-1, b.shape[-1]).any(0))
    if 0 < touched.size <= max(1, b.shape[-1] // 4):
        told = ", ".join(str(int(channel)) for channel in touched[:6])
        return Cause(kind="channels", text=f"only channel {told} of {b.shape[-1]} differs")
    return None


def _one_sign(a: Array, b: Array, tolerance: float) -> Cause | None:
    import numpy as np

    off = np.abs(a - b) > tolerance * max(float(np.abs(b).max()), 1e-30)
    if not off.any() or off.all():
        return None
    if np.all(b[off] <= 0) and not off[b > 0].any() and (b > 0).any():
        return Cause(kind="negative-side", text="only values that are not positive differ")
    return None


def _one_sample(a: Array, b: Array, tolerance: float) -> Cause | None:
    import numpy as np

    if b.ndim < 2 or b.shape[0] < 3:
        return None
    off = np.abs(a - b) > tolerance * max(float(np.abs(b).max()), 1e-30)
    rows = np.flatnonzero(off.reshape(b.shape[0], -1).any(1))
    if rows.size == 1 and off.reshape(b.shape[0], -1)[rows[0]].mean() > 0.5:
        return Cause(kind="batch", text=f"only sample {int(rows[0])} of {b.shape[0]} differs")
    return None
