"""What the values of an input array are like: range, spread of features, kind of data."""

from __future__ import annotations

import math
from typing import Any

from envcheck.localisation.recording.looks import looks_like
from envcheck.localisation.recording.tables import Table, is_scannable

__all__ = ["describe_input", "described_values", "numeric"]

_LARGE = 10.0
_MOST_DISTINCT = 1000
_LOOKED_THROUGH = 200_000
_CHUNK = 4_000_000


def describe_input(table: Table, values: Any) -> dict[str, Any]:
    """Return one input as the training log has it; `values` are the sampled rows of the table."""
    shape = list(table.shape)
    found: dict[str, Any] = {"name": table.name, "shape": shape, "dtype": table.dtype}
    numbers = numeric(values)
    if numbers is None:
        return {**found, **dict.fromkeys(_MEMBERS), "looks": "unknown"}
    return {
        **found,
        **described_values(table, numbers),
        **_features(numbers),
        "looks": looks_like(numbers),
        "distinct": _distinct(numbers),
    }


_MEMBERS = (
    "min", "max", "mean", "std", "nan_share", "inf_share", "integer", "max_abs_over_10_share",
    "feature_std_min", "feature_std_max", "constant_features", "features", "feature_std_ratio",
    "distinct",
)  # fmt: skip


def numeric(values: Any) -> Any:
    """Return values as floats, or None for text, objects and empty arrays."""
    import numpy as np

    if values.dtype.kind not in "biuf" and "float" not in str(values.dtype):
        return None
    if values.size == 0:
        return None
    wide = values.dtype == np.float64 or (values.dtype.kind in "iu" and values.dtype.itemsize > 2)
    return values.astype(np.float64 if wide else np.float32, copy=False)


def described_values(table: Table, values: Any) -> dict[str, Any]:
    """Return range, mean, spread and the shares of odd values."""
    import numpy as np

    good = np.isfinite(values)
    clean = bool(good.all())
    finite = values if clean else values[good]
    low, high, nan_share, inf_share = _extent(table, values)
    empty = finite.size == 0
    return {
        "min": None if empty else low,
        "max": None if empty else high,
        "mean": None if empty else float(finite.mean(dtype=np.float64)),
        "std": None if empty else float(finite.std(dtype=np.float64)),
        "nan_share": nan_share,
        "inf_share": inf_share,
        "integer": bool(not empty and (finite == np.floor(finite)).all()),
        "max_abs_over_10_share": float((np.abs(values) > _LARGE).mean()),
    }


def _extent(table: Table, values: Any) -> tuple[float, float, float, float]:
    """Return smallest and largest finite value, and the shares of NaN and infinity.

    All values of an array in memory are passed over; of others the sample.
    """
    import numpy as np

    seen = table.whole if is_scannable(table) else values
    if seen.dtype.kind == "f" or seen is values:
        low, high = float(seen.min()), float(seen.max())
        if math.isfinite(low) and math.isfinite(high):
            return low, high, 0.0, 0.0
        return _counted(seen)
    return float(np.min(seen)), float(np.max(seen)), 0.0, 0.0


def _counted(values: Any) -> tuple[float, float, float, float]:
    import numpy as np

    flat = values.reshape(-1) if values.flags.c_contiguous else values.ravel()
    low, high, nans, infinities = math.inf, -math.inf, 0, 0
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        nans += int(np.isnan(part).sum())
        infinities += int(np.isinf(part).sum())
        finite = part[np.isfinite(part)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return low, high, nans / flat.size, infinities / flat.size


def _features(values: Any) -> dict[str, Any]:
    """Return how much the features spread: the last axis of a row, for images the channels."""
    import numpy as np

    columns = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else values.reshape(-1, 1)
    with np.errstate(all="ignore"):
        spread = np.asarray(_spread(columns), dtype=np.float64)
    known = spread[np.isfinite(spread)]
    varying = known[known > 0]
    low, high = (float(varying.min()), float(varying.max())) if varying.size else (None, None)
    return {
        "feature_std_min": float(known.min()) if known.size else None,
        "feature_std_max": float(known.max()) if known.size else None,
        "constant_features": int((known == 0).sum()),
        "features": int(columns.shape[1]),
        "feature_std_ratio": None if low is None or high is None else high / low,
    }


def _spread(columns: Any) -> Any:
    """Return the standard deviation of each column, without its NaN; 0 only if all are equal."""
    import numpy as np

    low, high = columns.min(axis=0), columns.max(axis=0)
    if np.isfinite(low).all() and np.isfinite(high).all():
        spread = columns.std(axis=0, dtype=np.float64)
    else:
        columns = np.where(np.isfinite(columns), columns, np.nan)
        filled = ~np.isnan(columns).all(axis=0)
        low, high, spread = (np.full(columns.shape[1], np.nan) for _ in range(3))
        low[filled] = np.nanmin(columns[:, filled], axis=0)
        high[filled] = np.nanmax(columns[:, filled], axis=0)
        spread[filled] = np.nanstd(columns[:, filled], axis=0, dtype=np.float64)
    return np.where(low == high, 0.0, spread)


def _distinct(values: Any) -> int | None:
    """Return how many different values there are, or None for more than a thousand."""
    import numpy as np

    flat = values.reshape(-1)
    head = np.unique(flat[: _MOST_DISTINCT * 4])
    if head.size > _MOST_DISTINCT:
        return None
    step = max(1, flat.size // _LOOKED_THROUGH)
    found = np.unique(flat[:: step | 1])
    return int(found.size) if found.size <= _MOST_DISTINCT else None
