"""Describe tables of rows, and the batches of a stream once enough of them have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envcheck.localisation.recording.input_facts import describe_input
from envcheck.localisation.recording.row_keys import Keys, duplicate_shares, keys_of
from envcheck.localisation.recording.tables import (
    MOST_ROWS,
    Table,
    leaves,
    sample_rows,
    table_of,
)
from envcheck.localisation.recording.target_facts import describe_target

__all__ = ["BatchData", "describe_tables", "row_keys"]

_KEPT_VALUES = 2_000_000
_TARGET_ROWS = 200_000


def describe_tables(
    inputs: Sequence[Table], targets: Sequence[Table], kind: str, keys: Keys | None
) -> dict[str, Any]:
    """Return what inputs and targets hold, without validation data; `keys` are of the inputs."""
    import numpy as np

    width = max((table.width for table in inputs), default=1)
    rows = inputs[0].rows if inputs else None
    chosen = sample_rows(rows or 0, width)
    values = [table.take(_within(chosen, table.rows)) for table in inputs]
    duplicates, conflicts = duplicate_shares(keys, list(targets))
    described = []
    for table in targets:
        own = sample_rows(table.rows, table.width, _TARGET_ROWS)
        same = any(
            _equal(table, other, seen, chosen) for other, seen in zip(inputs, values, strict=True)
        )
        described.append(describe_target(table, np.asarray(table.take(own)), equals_input=same))
    return {
        "kind": kind,
        "rows": rows,
        "rows_examined": len(chosen),
        "inputs": [describe_input(t, v) for t, v in zip(inputs, values, strict=True)],
        "targets": described,
        "duplicate_share": duplicates,
        "conflict_share": conflicts,
        "weighted": False,
        "validation": None,
        "test": None,
    }


def row_keys(tables: Sequence[Table]) -> Keys | None:
    """Return the keys of the rows of tables: of all rows, or else of those of a sample."""
    if not tables:
        return None
    width = max(table.width for table in tables)
    return keys_of(list(tables), sample_rows(tables[0].rows, width))


def _within(chosen: Any, rows: int) -> Any:
    return chosen[chosen < rows]


def _equal(target: Table, source: Table, values: Any, chosen: Any) -> bool:
    """Return whether a target is what the model gets as its input: an autoencoder."""
    import numpy as np

    if target.source is source.source:
        return True
    if target.rows != source.rows or target.width != source.width or target.width < 2:
        return False
    if target.dtype in ("object", "string"):
        return False
    theirs = target.take(chosen)
    return bool(np.array_equal(theirs.reshape(len(chosen), -1), values.reshape(len(chosen), -1)))


class BatchData:
    """Collects batches of a stream until they hold as many rows as are needed."""

    def __init__(self) -> None:
        self._inputs: dict[str | None, _Column] = {}
        self._targets: dict[str | None, _Column] = {}
        self._described: dict[str, Any] | None = None
        self._weighted = False

    def add(self, x: Any, y: Any, sample_weight: Any = None) -> None:
        """Add one batch: arrays or tensors, or dicts and lists of them."""
        self._described = None
        self._weighted = self._weighted or sample_weight is not None
        for columns, structure in ((self._inputs, x), (self._targets, y)):
            for name, leaf in leaves(structure):
                table = table_of(name, leaf)
                if table is not None:
                    columns.setdefault(name, _Column(table)).add(table)

    def describe(self) -> dict[str, Any]:
        """Return what the batches hold; how many rows the stream has is not known."""
        if self._described is None:
            inputs = [column.table() for column in self._inputs.values()]
            targets = [column.table() for column in self._targets.values()]
            self._described = {
                **describe_tables(inputs, targets, "batches", row_keys(inputs)),
                "rows": None,
                "weighted": self._weighted,
            }
        return dict(self._described)


class _Column:
    """The rows of one array of a stream, all of the same shape."""

    def __init__(self, first: Table) -> None:
        self._first = first
        self._shape: list[int | None] = list(first.shape)
        self._parts: list[Any] = []
        self._rows = 0

    def add(self, table: Table) -> None:
        """Keep the rows of one batch, a copy, while there is room for more."""
        import numpy as np

        if len(table.shape) == len(self._shape):
            pairs = zip(self._shape, table.shape, strict=True)
            self._shape = [own if own == other else None for own, other in pairs]
        room = min(MOST_ROWS, max(1, _KEPT_VALUES // max(1, table.width))) - self._rows
        if room <= 0 or table.shape != self._first.shape:
            return
        rows = np.array(table.take(np.arange(min(room, table.rows))))
        if self._parts and rows.shape[1:] != self._parts[0].shape[1:]:
            return
        self._parts.append(rows)
        self._rows += len(rows)

    def table(self) -> Table:
        """Return the rows as one table."""
        import numpy as np

        rows = np.concatenate(self._parts)
        self._parts = [rows]
        return Table(self._first.name, len(rows), tuple(self._shape), self._first.dtype, rows, rows)
