"""Arrays of any kind as tables of rows, of which a sample can be taken without copying the rest.

Numpy arrays, tensors, pandas frames, and sparse or ragged ones; the sample is the same each time
and draws on no random generator.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Table", "leaves", "sample_rows", "table_of"]

MOST_ROWS = 20_000
_MOST_VALUES = 1_500_000
_FEWEST_ROWS = 256
_GOLDEN = 0.6180339887498949
_WHOLE = 512 * 2**20
"""Bytes up to which all of an array in memory is passed over once."""


@dataclass(frozen=True)
class Table:
    """One array: its name in a nested structure, rows, the shape and the type of a row.

    `source` is the array itself, `whole` the same as a numpy array when that costs no copy.
    """

    name: str | None
    rows: int
    shape: tuple[int | None, ...]
    dtype: str
    source: Any
    whole: Any

    @property
    def width(self) -> int:
        """Return how many values a row has, as far as that is fixed."""
        return math.prod(size or 1 for size in self.shape)

    @property
    def is_numeric(self) -> bool:
        """Return whether the values are real numbers."""
        return self.dtype.startswith(("int", "uint", "float", "bool", "bfloat"))

    def take(self, indices: Any) -> Any:
        """Return some rows as a numpy array."""
        import numpy as np

        if self.whole is not None:
            every = len(indices) == self.rows
            return self.whole if every else self.whole[indices]
        if hasattr(self.source, "iloc"):
            return np.asarray(self.source.iloc[indices])
        return _dense(_gathered(self.source, indices))


def leaves(structure: Any, name: str | None = None) -> Iterator[tuple[str | None, Any]]:
    """Yield the arrays in nested dicts, lists and tuples, each with its key or number."""
    if structure is None:
        return
    if isinstance(structure, Mapping) and not hasattr(structure, "iloc"):
        for key in sorted(structure, key=str):
            yield from leaves(structure[key], _joined(name, key))
    elif isinstance(structure, list | tuple) and any(map(_is_part, structure)):
        for number, item in enumerate(structure):
            yield from leaves(item, _joined(name, number))
    else:
        yield name, structure


def _joined(name: str | None, key: Any) -> str:
    return str(key) if name is None else f"{name}/{key}"


def _is_part(item: Any) -> bool:
    """Return whether an item of a list is an array of its own, not a row or a number."""
    if isinstance(item, list | tuple):
        return any(map(_is_part, item))
    return isinstance(item, Mapping) or getattr(item, "shape", ()) != ()


def table_of(name: str | None, source: Any) -> Table | None:
    """Return an array as a table, or None for what has no rows that can be picked."""
    import numpy as np

    if isinstance(source, list | tuple):
        source = np.asarray(source, dtype=None if _is_even(source) else object)
    shape = getattr(source, "shape", None)
    if shape is None or hasattr(source, "element_spec"):
        return None
    sizes = [None if size is None else int(size) for size in shape]
    if not sizes or sizes[0] is None:
        return None
    whole = _in_memory(source)
    dtype = whole.dtype if whole is not None else getattr(source, "dtype", None)
    kind = getattr(dtype, "name", None) or ("object" if dtype is None else str(dtype))
    return Table(name, sizes[0], tuple(sizes[1:]), str(kind), source, whole)


def _is_even(rows: Any) -> bool:
    lengths = {len(row) if isinstance(row, list | tuple) else -1 for row in rows}
    return len(lengths) == 1


def _in_memory(source: Any) -> Any:
    """Return an array as numpy when it is one already, or shares its memory with one."""
    import numpy as np

    if isinstance(source, np.ndarray):
        return source
    if hasattr(source, "iloc") and source.ndim == 1 and isinstance(source.values, np.ndarray):
        return source.values
    return None


def _gathered(source: Any, indices: Any) -> Any:
    """Return rows of a tensor or of a sparse matrix."""
    tf = sys.modules.get("tensorflow")  # without it nothing is a tensor
    if tf is None or not isinstance(
        source, tf.Tensor | tf.Variable | tf.RaggedTensor | tf.SparseTensor
    ):
        return source[indices]
    if isinstance(source, tf.SparseTensor):
        last = int(indices[-1]) + 1 if len(indices) else 0
        head = tf.sparse.slice(source, [0] * len(source.shape), [last, *source.shape[1:]])
        source = tf.sparse.to_dense(head)
    return tf.gather(source, indices)


def _dense(rows: Any) -> Any:
    import numpy as np

    if hasattr(rows, "to_tensor"):
        rows = rows.to_tensor()
    elif hasattr(rows, "toarray"):
        rows = rows.toarray()
    return np.asarray(rows)


def sample_rows(rows: int, width: int, most: int = MOST_ROWS) -> Any:
    """Return the numbers of the rows that stand for a table, in order.

    Multiples of the golden section, which no period in the data can hide from.
    """
    import numpy as np

    wanted = min(most, max(_FEWEST_ROWS, _MOST_VALUES // max(1, width)))
    if rows <= wanted:
        return np.arange(rows)
    places = (np.arange(wanted, dtype=np.float64) * _GOLDEN) % 1.0
    return np.unique((places * rows).astype(np.int64))


def is_scannable(table: Table) -> bool:
    """Return whether all values of a table can be passed over quickly."""
    whole = table.whole
    return whole is not None and whole.dtype.kind in "biuf" and whole.nbytes <= _WHOLE
