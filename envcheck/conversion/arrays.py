"""Numbers about two arrays. Everything is computed in float64, whatever comes in.

An array is a `numpy.ndarray`; it is typed `Any` because numpy is an optional dependency.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Array", "is_exact_kind", "is_number", "plain", "relative_error"]

Array: TypeAlias = Any
_TINY = 1e-12
"""Root mean square below which a reference counts as zero."""


def plain(value: Any) -> Array:
    """Return a value as a numpy array of a native type; bfloat16 and the like become float32."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind in "biufcOSU":
        return array
    return array.astype(np.float32)


def is_number(array: Array) -> bool:
    """Return whether an array holds numbers or booleans."""
    return array.dtype.kind in "biuf"


def is_exact_kind(array: Array) -> bool:
    """Return whether an array holds integers or booleans, which must agree exactly."""
    return array.dtype.kind in "biu"


def relative_error(value: Array, reference: Array) -> float:
    """Return `||value - reference|| / ||reference||`, or infinity where they cannot be compared.

    Not-a-number and infinities must stand at the same places with the same signs; the rest is
    compared as usual. Integers and booleans: the share of elements that differ.
    """
    import numpy as np

    if value.size != reference.size:
        return float("inf")
    a, b = value.reshape(-1), reference.reshape(-1)
    if is_exact_kind(b) and is_exact_kind(a):
        return float(np.mean(a.astype(np.int64) != b.astype(np.int64))) if b.size else 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    bad = ~np.isfinite(b)
    if bad.any() or not np.isfinite(a).all():
        if not _same_holes(a, b):
            return float("inf")
        a, b = a[~bad], b[~bad]
    if b.size == 0:
        return 0.0
    scale = max(float(np.linalg.norm(b)), _TINY * float(np.sqrt(b.size)))
    return float(np.linalg.norm(a - b)) / scale


def _same_holes(a: Array, b: Array) -> bool:
    import numpy as np

    return bool(
        np.array_equal(np.isnan(a), np.isnan(b))
        and np.array_equal(np.isposinf(a), np.isposinf(b))
        and np.array_equal(np.isneginf(a), np.isneginf(b))
    )
