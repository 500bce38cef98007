"""The data of a fit as the training log has it: what arrays hold, and how they were split.

Nothing is changed, no array is copied as a whole, and no random number is drawn. Of large arrays
a sample of rows is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envcheck.localisation.recording.batch_data import BatchData, describe_tables, row_keys
from envcheck.localisation.recording.null_losses import null_losses
from envcheck.localisation.recording.row_keys import Keys, overlap_share
from envcheck.localisation.recording.tables import Table, leaves, sample_rows, table_of

__all__ = ["BatchData", "describe_data", "null_losses"]


def describe_data(x: Any, y: Any, sample_weight: Any, validation: Any, kind: str) -> dict[str, Any]:
    """Return what arrays given to a fit hold.

    `x` and `y` are arrays, tensors or frames, or dicts and lists of them; `validation` is a pair
    of the same, or None. `kind` is arrays, dataset, generator or batches.
    """
    inputs, targets = _tables(x), _tables(y)
    keys = row_keys(inputs)
    found = describe_tables(inputs, targets, kind, keys)
    found["weighted"] = sample_weight is not None
    found["validation"] = _validation(validation, inputs, keys, found)
    return found


def _tables(structure: Any) -> list[Table]:
    found = (table_of(name, leaf) for name, leaf in leaves(structure))
    return [table for table in found if table is not None]


def _validation(
    validation: Any, inputs: Sequence[Table], keys: Keys | None, training: dict[str, Any]
) -> dict[str, Any] | None:
    if validation is None:
        return None
    x, y = (*validation, None, None)[:2] if isinstance(validation, list | tuple) else (None, None)
    theirs = _tables(x)
    their_keys = row_keys(theirs)
    described = describe_tables(theirs, _tables(y), "arrays", their_keys)
    return {
        "rows": described["rows"],
        "inputs": described["inputs"],
        "targets": described["targets"],
        "overlap_share": overlap_share(keys, their_keys),
        "mean_shift": _mean_shift(inputs, theirs, training),
    }


def _mean_shift(
    ours: Sequence[Table], theirs: Sequence[Table], training: dict[str, Any]
) -> float | None:
    """Return the largest difference of a feature's means, in standard deviations of training."""
    shifts = [
        _shift(own, other)
        for own, other, described in zip(ours, theirs, training["inputs"], strict=False)
        if described["looks"] not in ("tokens", "unknown") and described["mean"] is not None
    ]
    known = [shift for shift in shifts if shift is not None]
    return max(known) if known else None


def _shift(own: Table, other: Table) -> float | None:
    import numpy as np

    from envcheck.localisation.recording.input_facts import numeric

    columns = []
    for table in (own, other):
        values = numeric(table.take(sample_rows(table.rows, table.width)))
        if values is None or not values.size:
            return None
        columns.append(values.reshape(-1, values.shape[-1] if values.ndim > 1 else 1))
    if columns[0].shape[1] != columns[1].shape[1]:
        return None
    with np.errstate(all="ignore"):
        spread = columns[0].std(axis=0, dtype=np.float64)
        distance = np.abs(
            columns[0].mean(axis=0, dtype=np.float64) - columns[1].mean(axis=0, dtype=np.float64)
        )
        shift = distance / spread
    usable = shift[np.isfinite(shift) & (spread > 0)]
    return float(usable.max()) if usable.size else None
