"""Look at the batches of a fit without taking any from it, and without drawing one twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

__all__ = ["Feed", "probe_rows"]

_ROWS = 64
_ENOUGH_ROWS = 2048
_MOST_BATCHES = 64
_SECONDS = 0.5
"""After so much time in looking at batches only the first few more are looked at."""


class Feed:
    """The iterator that one fit trains on."""

    def __init__(self, iterator: Any) -> None:
        self._at_once = int(iterator.steps_per_execution)
        self.adapter = iterator.data_adapter
        self.arrays = hasattr(self.adapter, "_inputs")
        self.kind = _kind(self.adapter)
        self._spare: _Spare | None = None
        self._rows = 0
        self._batches = 0
        self._spent = 0.0
        self._possible = True

    def wants_more(self, step: int) -> bool:
        """Return whether the batch of a step is still worth a look."""
        if self.arrays or not self._possible or step != self._batches:
            return False
        few = self._batches < 4
        return few or (
            self._rows < _ENOUGH_ROWS and self._batches < _MOST_BATCHES and self._spent < _SECONDS
        )

    def peek(self, iterator: Any) -> tuple[Any, list[Any]]:
        """Return an iterator equal to this one for one execution, and the batches it will give.

        Where that is not possible the iterator comes back as it is, with no batch.
        """
        import tensorflow as tf

        begun = time.perf_counter()
        if not isinstance(iterator, tf.data.Iterator):
            self._possible = False
            return iterator, []
        if self._spare is None:
            self._spare = _Spare.of(iterator)
        if self._spare is None:
            self._possible = False
            return iterator, []
        batches = self._drawn(iterator)
        if not batches:
            return iterator, []  # let `fit` find out in its own way that there are no more
        self._batches += len(batches)
        self._rows += sum(map(_rows_in, batches))
        passed = self._spare.holding(batches)
        self._spent += time.perf_counter() - begun
        return passed, batches

    def _drawn(self, iterator: Any) -> list[Any]:
        import tensorflow as tf

        batches: list[Any] = []
        try:
            while len(batches) < self._at_once:
                batches.append(next(iterator))
        except (StopIteration, tf.errors.OutOfRangeError):
            pass
        return batches


class _Spare:
    """A dataset of the same element specification that gives what is put into it."""

    def __init__(self, dataset: Any, held: list[Any]) -> None:
        self._dataset = dataset
        self._held = held

    @classmethod
    def of(cls, iterator: Any) -> _Spare | None:
        """Return a spare dataset for this iterator, or None where its elements allow none."""
        import tensorflow as tf

        held: list[Any] = []

        def given() -> Iterator[Any]:
            yield from list(held)

        try:
            dataset = tf.data.Dataset.from_generator(given, output_signature=iterator.element_spec)
            same = dataset.element_spec == iterator.element_spec and iter(dataset) is not None
        except Exception:  # noqa: BLE001 - elements that no generator can give
            return None
        return cls(dataset, held) if same else None

    def holding(self, batches: list[Any]) -> Any:
        """Return an iterator that gives these batches."""
        self._held[:] = batches
        return iter(self._dataset)


def _rows_in(batch: Any) -> int:
    import keras

    for part in keras.tree.flatten(batch):
        shape = getattr(part, "shape", None)
        if shape is not None and len(shape):
            return int(shape[0] or 0)
    return 0


def _kind(adapter: Any) -> str:
    name = type(adapter).__name__
    kinds = {
        "ArrayDataAdapter": "arrays", "GeneratorDataAdapter": "generator",
        "PyDatasetAdapter": "generator",
    }  # fmt: skip
    return kinds.get(name, "dataset")


def probe_rows(adapter: Any) -> Any:
    """Return rows of arrays as a batch that Keras would make of them: evenly spaced, 64 at most."""
    import keras
    import numpy as np
    from keras.src.trainers.data_adapters import array_slicing

    inputs = array_slicing.convert_to_sliceable(adapter._inputs, target_backend="numpy")
    total = adapter._num_samples
    indices = np.unique(np.linspace(0, total - 1, min(total, _ROWS)).astype(int))

    def cut(part: Any) -> Any:
        return None if part is None else part.convert_to_numpy(part[indices])

    return keras.tree.map_structure(cut, inputs)
