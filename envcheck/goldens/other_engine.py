"""Every other format, under the runtimes that `envcheck parity` knows or that are registered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from envcheck.goldens.engines import RunFailed, Spec
from envcheck.goldens.layers import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.conversion.runtimes.protocol import Candidate
    from envcheck.goldens.layers import Layer

__all__ = ["OtherEngine", "layers_of"]


class OtherEngine:
    """A candidate of the parity runtimes as an engine."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._candidate = _open(path)
        self.inputs = tuple(
            Spec(item.name, item.dtype, item.shape) for item in self._candidate.inputs
        )
        self.outputs = tuple(item.name for item in self._candidate.outputs)

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs in order. Raises RunFailed."""
        return _run(self._candidate, feeds)

    def variants(self) -> dict[str, Callable[[Mapping[str, Any]], list[Any]]]:
        """Return: one thread."""
        return {"one thread": lambda feeds: _run(_open(self._path, threads=1), feeds)}

    def layers(self, feeds: Mapping[str, Any]) -> dict[str, list[Layer]]:
        """Return digests of every tensor that the runtime shows."""
        return layers_of(self._path, feeds)

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""
        return self._candidate.identity()


def layers_of(path: str, feeds: Mapping[str, Any]) -> dict[str, list[Layer]]:
    """Return digests of the tensors of a candidate, again, and with one thread.

    Raises RunFailed and MissingExtra.
    """
    ways = {
        "": partial(_open, path, level="none"),
        "repeated": partial(_open, path, level="none"),
        "one thread": partial(_open, path, level="none", threads=1),
    }
    return {way: _layers(make(), feeds) for way, make in ways.items()}


def _open(path: str, *, level: str = "all", threads: int = 0) -> Candidate:
    from envcheck.conversion.runtimes.discovery import open_file
    from envcheck.conversion.runtimes.protocol import Failure, Settings

    try:
        return open_file(path, Settings(level=level, threads=threads))
    except Failure as problem:
        raise RunFailed(problem.stage, problem.message) from problem


def _run(candidate: Candidate, feeds: Mapping[str, Any]) -> list[Any]:
    from envcheck.conversion.runtimes.protocol import Failure

    try:
        return candidate.run(feeds)
    except Failure as problem:
        raise RunFailed(problem.stage, problem.message) from problem


def _layers(candidate: Candidate, feeds: Mapping[str, Any]) -> list[Layer]:
    from envcheck.conversion.stores import Store

    store = Store()
    try:
        done = candidate.run_all(feeds, store)
        if done.failure is not None:
            raise RunFailed(done.failure.stage, done.failure.message)
        tensors = sorted(candidate.tensors(), key=lambda tensor: tensor.order)
        found = [
            digest(tensor.name, tensor.op, store.get(tensor.name))
            for tensor in tensors
            if tensor.name in store
        ]
    finally:
        store.close()
    return [layer for layer in found if layer is not None]
