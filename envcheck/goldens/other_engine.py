"""Every other format, under the runtimes that `envcheck parity` knows or that are registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.goldens.engines import RunFailed, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["OtherEngine"]


class OtherEngine:
    """A candidate of the parity runtimes as an engine."""

    def __init__(self, path: str) -> None:
        from envcheck.conversion.runtimes.discovery import open_file
        from envcheck.conversion.runtimes.protocol import Failure, Settings

        self._failure = Failure
        try:
            self._candidate = open_file(path, Settings(level="all"))
        except Failure as problem:
            raise RunFailed(problem.stage, problem.message) from problem
        self.inputs = tuple(
            Spec(item.name, item.dtype, item.shape) for item in self._candidate.inputs
        )
        self.outputs = tuple(item.name for item in self._candidate.outputs)

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs in order. Raises RunFailed."""
        try:
            return self._candidate.run(feeds)
        except self._failure as problem:
            raise RunFailed(problem.stage, problem.message) from problem

    def variants(self) -> dict[str, Callable[[Mapping[str, Any]], list[Any]]]:
        """Return nothing: what else could be set is not known."""
        return {}

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""
        return self._candidate.identity()
