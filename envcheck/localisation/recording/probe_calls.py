"""Watch the layer calls of one run of a model: which part was called, with what result.

The classes' own `__call__` are wrapped while the block runs, for this thread alone, and put
back afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from envcheck.localisation.recording.probe_paths import Part

__all__ = ["Call", "watched"]


@dataclass(frozen=True)
class Call:
    """One call of a part: its number among the calls of that part, and its results."""

    part: Part
    index: int
    tensors: tuple[Any, ...]


class _Watch:
    """Collects calls in the order in which they end, so inner layers come before outer ones."""

    def __init__(self, parts: list[Part]) -> None:
        self.calls: list[Call] = []
        self._parts = {id(part.layer): part for part in parts if part.reported}
        self._counts: dict[str, int] = {}
        self._thread = threading.get_ident()

    def note(self, layer: Any, result: Any) -> None:
        """Note the result of a call when the layer is a reported part."""
        part = self._parts.get(id(layer))
        if part is None or threading.get_ident() != self._thread:
            return
        index = self._counts.get(part.path, 0)
        self._counts[part.path] = index + 1
        self.calls.append(Call(part, index, tuple(_tensors(result))))


@contextmanager
def watched(parts: list[Part]) -> Iterator[list[Call]]:
    """Wrap `Layer.__call__` and `Operation.__call__`; yield the growing list of calls."""
    import keras

    watch = _Watch(parts)
    layer_class, operation_class = keras.layers.Layer, keras.Operation
    originals = [(kind, kind.__dict__["__call__"]) for kind in (layer_class, operation_class)]
    try:
        for kind, original in originals:
            patched: Any = kind
            patched.__call__ = _noting(original, watch, layer_class, layers=kind is layer_class)
        yield watch.calls
    finally:
        for kind, original in originals:
            patched = kind
            patched.__call__ = original


def _noting(original: Any, watch: _Watch, layer_class: type, *, layers: bool) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if isinstance(self, layer_class) == layers:
            watch.note(self, result)
        return result

    return call


def _tensors(values: Any) -> Iterator[Any]:
    """Yield the dense tensors in nested lists, tuples and dicts."""
    if isinstance(values, dict):
        for value in values.values():
            yield from _tensors(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _tensors(value)
    elif hasattr(values, "shape") and hasattr(values, "dtype"):
        yield values
