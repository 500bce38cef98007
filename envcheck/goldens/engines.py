"""What can run a model here, and what every engine offers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from envcheck.errors import InputError
from envcheck.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.goldens.layers import Layer

__all__ = ["Engine", "RunFailed", "Spec", "first_batch", "open_engine", "run_whole"]

_KERAS = (".keras", ".h5", ".hdf5")


class RunFailed(Exception):
    """The model cannot be loaded or run here. `stage` is load, interface or run."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


@record
class Spec:
    """An input of a model: its name, numpy type, and shape with None where anything goes."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]


class Engine(Protocol):
    """A loaded model."""

    inputs: tuple[Spec, ...]
    outputs: tuple[str, ...]

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs in order. Raises RunFailed."""

    def variants(self) -> dict[str, Callable[[Mapping[str, Any]], list[Any]]]:
        """Return other ways to compute the same, by what is different about them."""

    def layers(self, feeds: Mapping[str, Any]) -> dict[str, list[Layer]]:
        """Return digests of what each layer gives, in order, as `""` and by what is different.

        Raises RunFailed and MissingExtra.
        """

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""


def open_engine(path: str) -> Engine:
    """Load a model by its ending. Raises InputError, MissingExtra and RunFailed."""
    if not os.path.exists(path):
        raise InputError("does not exist", place=path, hint="is this the right path?")
    ending = os.path.splitext(path)[1].lower()
    if ending == ".onnx":
        from envcheck.goldens.onnx_engine import OnnxEngine

        return OnnxEngine(path)
    if ending in _KERAS:
        from envcheck.goldens.keras_engine import KerasEngine

        return KerasEngine(path)
    from envcheck.goldens.other_engine import OtherEngine

    return OtherEngine(path)


def first_batch(engine: Engine, feeds: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the samples that the model takes at a time: all of them, but for a fixed batch."""
    size = _fixed_batch(engine)
    if size is None:
        return feeds
    return {name: value[:size] if value.ndim else value for name, value in feeds.items()}


def run_whole(engine: Engine, feeds: Mapping[str, Any], size: int | None = None) -> list[Any]:
    """Return the outputs for all samples, run `size` at a time.

    Without a size the batch of the model counts where it is fixed, else all run at once.
    """
    import numpy as np

    size = size or _fixed_batch(engine)
    counts = {value.shape[0] for value in feeds.values() if value.ndim}
    if size is None or len(counts) != 1 or counts == {size}:
        return engine.run(feeds)
    (count,) = counts
    if count % size:
        raise RunFailed("interface", f"takes {size} samples at a time, and {count} are recorded")
    parts = [
        engine.run({name: value[start : start + size] for name, value in feeds.items()})
        for start in range(0, count, size)
    ]
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def _fixed_batch(engine: Engine) -> int | None:
    sizes = {spec.shape[0] for spec in engine.inputs if spec.shape}
    return sizes.pop() if len(sizes) == 1 else None
