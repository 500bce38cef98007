"""What the targets of a fit are: classes, one-hot codes, labels, counts or real numbers."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.recording.input_facts import described_values, numeric
from envcheck.localisation.recording.tables import Table
from envcheck.localisation.recording.target_kinds import target_kind

__all__ = ["describe_target"]

_MOST_CLASSES = 1000
_MEMBERS = (
    "min", "max", "mean", "std", "variance", "median", "median_deviation", "classes", "max_id",
    "class_counts", "perplexity_share", "nan_share", "column_means", "own_entropy",
)  # fmt: skip


def describe_target(table: Table, values: Any, *, equals_input: bool) -> dict[str, Any]:
    """Return one target as the training log has it; `values` are the sampled rows of the table.

    `column_means` are the means of the values along the last axis, `own_entropy` the mean
    entropy of targets that are probabilities themselves: no prediction has a lower loss.
    """
    width = table.shape[-1] if table.shape else 1
    found: dict[str, Any] = {
        "name": table.name, "shape": list(table.shape), "dtype": table.dtype, "width": width,
        "equals_input": equals_input,
    }  # fmt: skip
    numbers = numeric(values)
    if numbers is None:
        return {**found, **dict.fromkeys(_MEMBERS), "kind": "unknown", "row_sums_one": False}
    finite = _finite_rows(numbers)
    told = described_values(table, numbers)
    kept = {key: told[key] for key in ("min", "max", "mean", "std", "nan_share")}
    if finite.size == 0:
        return {
            **dict.fromkeys(_MEMBERS),
            **found,
            **kept,
            "kind": "unknown",
            "row_sums_one": False,
        }
    sums = _rows_sum_to_one(finite)
    kind = target_kind(finite, table.dtype, sums_to_one=sums)
    classes = _classes(finite, kind)
    if kind == "class-ids":
        classes["max_id"] = int(kept["max"])
    return {
        **found, **kept, "kind": kind, "row_sums_one": sums,
        **_moments(finite), **classes, **_means(finite),
    }  # fmt: skip


def _finite_rows(values: Any) -> Any:
    import numpy as np

    good = np.isfinite(values).reshape(values.shape[0], -1).all(axis=1)
    return (values if good.all() else values[good]).astype(np.float64, copy=False)


def _rows_sum_to_one(values: Any) -> bool:
    """Return whether the values along the last axis are shares: at least 0, in sum 1."""
    import numpy as np

    if values.ndim < 2 or values.shape[-1] < 2 or float(values.min()) < 0:
        return False
    return bool((np.abs(values.sum(axis=-1) - 1.0) < 1e-3).all())


def _moments(values: Any) -> dict[str, float]:
    """Return variance, median and mean distance from it; of several columns the mean of each."""
    import numpy as np

    columns = values.reshape(values.shape[0], -1)
    median = _median(columns)
    return {
        "variance": float(columns.var(axis=0).mean()),
        "median": float(_median(columns.reshape(-1, 1))[0]),
        "median_deviation": float(np.abs(columns - median).mean()),
    }


def _median(columns: Any) -> Any:
    """Return the median of each column; `numpy.median` loads all of `numpy.ma` first."""
    import numpy as np

    low, high = (len(columns) - 1) // 2, len(columns) // 2
    ordered = np.partition(columns, (low, high), axis=0)
    return (ordered[low] + ordered[high]) / 2


def _means(values: Any) -> dict[str, Any]:
    import numpy as np

    places = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else values.reshape(-1, 1)
    shares = float(places.min()) >= 0 and float(places.max()) <= 1
    means = places.mean(axis=0)
    entropy = None
    if shares and _rows_sum_to_one(values):
        entropy = float(_times_log(places).sum(axis=1).mean())
    elif shares:
        entropy = float(np.mean(_times_log(places) + _times_log(1 - places)))
    return {
        "column_means": [float(mean) for mean in means] if means.size <= _MOST_CLASSES else None,
        "own_entropy": entropy,
    }


def _times_log(shares: Any) -> Any:
    """Return -p ln p, which is 0 for 0."""
    import numpy as np

    return -shares * np.log(np.where(shares > 0, shares, 1.0))


def _classes(values: Any, kind: str) -> dict[str, Any]:
    """Return how many classes there are, and how often each."""
    import numpy as np

    counts, classes, highest = None, None, None
    if kind == "binary":
        _, found = np.unique(values, return_counts=True)
        counts, classes = [int(count) for count in found], int(found.size)
        highest = int(values.max())
    elif kind == "class-ids":
        highest = int(values.max())
        found = np.bincount(values.astype(np.int64).ravel())
        classes = int((found > 0).sum())
        counts = [int(count) for count in found] if found.size <= _MOST_CLASSES else None
    elif kind in ("one-hot", "multi-label"):
        places = values.reshape(-1, values.shape[-1])
        classes = int(places.shape[1])
        counts = [int(c) for c in places.sum(axis=0)] if classes <= _MOST_CLASSES else None
    return {
        "classes": classes,
        "max_id": highest,
        "class_counts": counts,
        "perplexity_share": None if kind == "multi-label" else _perplexity_share(counts),
    }


def _perplexity_share(counts: list[int] | None) -> float | None:
    """Return exp of the label entropy over the number of classes that occur: 1 is balanced."""
    import numpy as np

    present = np.asarray([count for count in counts or () if count > 0], dtype=np.float64)
    if present.size < 2:
        return None
    shares = present / present.sum()
    return float(np.exp(_times_log(shares).sum()) / present.size)
