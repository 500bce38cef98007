"""Rows that occur more than once in a table, or in two tables."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.recording.tables import Table

__all__ = ["Keys", "duplicate_shares", "keys_of", "overlap_share"]

_COLUMNS = 48
_MOST_KEYED = 30_000_000
_MOST_VALUES = 10_000_000
_CHECKED = 20_000
_GOLDEN = 0.6180339887498949
_ODD = 0x9E3779B97F4A7C15


class Keys:
    """A number for each row of tables with equal rows: equal rows have equal numbers.

    The numbers stand for some columns alone, so those of different rows may agree; `exact` tells
    such rows apart.
    """

    def __init__(self, tables: list[Table], indices: Any) -> None:
        self._tables = tables
        self.indices = indices
        self.numbers = _numbers(tables, indices)

    @property
    def most(self) -> int:
        """Return how many rows can be looked at as a whole in reasonable time."""
        width = sum(table.width for table in self._tables)
        return max(100, min(_CHECKED, _MOST_VALUES // max(1, width)))

    def exact(self, places: Any) -> Any:
        """Return a number for the whole of each row at some places."""
        import numpy as np

        parts = [_plain(table.take(self.indices[places])) for table in self._tables]
        rows = [np.ascontiguousarray(part) for part in parts]
        numbers = [hash(tuple(part[row].tobytes() for part in rows)) for row in range(len(places))]
        return np.asarray(numbers, dtype=np.int64)


def keys_of(tables: list[Table], indices: Any | None = None) -> Keys | None:
    """Return the keys of the rows of tables, or None where rows cannot be compared.

    All rows of arrays in memory are taken; of others those of the sample, `indices`.
    """
    import numpy as np

    if not tables or any(table.rows != tables[0].rows for table in tables):
        return None
    if tables[0].rows == 0 or not all(table.is_numeric and table.width for table in tables):
        return None
    small = tables[0].rows * sum(min(table.width, _COLUMNS) for table in tables) <= _MOST_KEYED
    if all(table.whole is not None for table in tables) and small:
        indices = np.arange(tables[0].rows)
    return None if indices is None else Keys(tables, indices)


def _plain(rows: Any) -> Any:
    """Return rows as float64, so that equal numbers have equal bytes; -0 becomes 0."""
    import numpy as np

    return rows.reshape(rows.shape[0], -1).astype(np.float64) + 0.0


def _numbers(tables: list[Table], indices: Any) -> Any:
    import numpy as np

    total = np.zeros(len(indices), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for table in tables:
            rows = table.take(indices)
            flat = rows.reshape(rows.shape[0], -1)
            for number in _columns(flat.shape[1]):
                column = flat[:, number].astype(np.float64) + 0.0
                total = (total ^ column.view(np.uint64)) * np.uint64(_ODD)
                total ^= total >> np.uint64(29)
    return total


def _columns(width: int) -> list[int]:
    """Return the columns that are looked at: all of a few, else some spread over the row."""
    if width <= _COLUMNS:
        return list(range(width))
    return sorted({int((number * _GOLDEN) % 1.0 * width) for number in range(_COLUMNS)})


def duplicate_shares(keys: Keys | None, targets: list[Table]) -> tuple[float | None, float | None]:
    """Return the share of rows that equal an earlier one, and of those with another target."""
    import numpy as np

    if keys is None:
        return None, None
    suspects = _in_groups(keys.numbers)
    if not len(suspects):
        return 0.0, 0.0 if targets else None
    chosen = np.sort(suspects[: keys.most])
    exact = keys.exact(chosen)
    _, first, inverse = np.unique(exact, return_index=True, return_inverse=True)
    earlier = first[np.ravel(inverse)]
    again = earlier != np.arange(len(earlier))
    scale = len(suspects) / len(chosen) / len(keys.numbers)
    aims = keys_of(targets, keys.indices) if targets else None
    if aims is None or len(aims.numbers) != len(keys.numbers):
        return float(again.sum() * scale), None
    aim = aims.exact(chosen)
    other = again & (aim != aim[earlier])
    return float(again.sum() * scale), float(other.sum() * scale)


def _in_groups(numbers: Any) -> Any:
    """Return the places of numbers that occur more than once, equal ones together."""
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    equal = ordered[1:] == ordered[:-1]
    return order[np.append(equal, False) | np.append(False, equal)]


def overlap_share(keys: Keys | None, others: Keys | None) -> float | None:
    """Return the share of the other rows that occur among these too."""
    import numpy as np

    if keys is None or others is None:
        return None
    theirs = np.flatnonzero(np.isin(others.numbers, keys.numbers))
    if not len(theirs):
        return 0.0
    chosen = theirs[:: -(-len(theirs) // others.most)]
    ours = np.flatnonzero(np.isin(keys.numbers, others.numbers[chosen]))[: keys.most]
    same = np.isin(others.exact(chosen), keys.exact(ours))
    return float(len(theirs) / len(others.numbers) * same.mean())
