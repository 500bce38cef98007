"""What every runtime can do with a candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.graphs import Graph, Injection, Tensor
    from envcheck.conversion.stores import Store

__all__ = ["Candidate", "Failure", "Feed", "Partial", "RuntimeModule", "Settings", "Whole"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to run a candidate. `level` is the optimisation level: `all` or `none`."""

    level: str = "none"
    threads: int = 0
    provider: str = ""
    budget: int = 512 << 20


@dataclass(frozen=True, kw_only=True)
class Feed:
    """An input or output of a candidate: its name, numpy type name, and shape (None: any)."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]


class Failure(Exception):
    """A candidate cannot be loaded or run. `stage` is `load` or `run`."""

    def __init__(self, stage: str, message: str, node: str = "") -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message
        self.node = node


@dataclass(kw_only=True)
class Partial:
    """What a run over all tensors gave: the failure that ended it early, if one did."""

    failure: Failure | None = None
    missing: list[str] = field(default_factory=list)


class Candidate(Protocol):
    """A loaded candidate.

    `runs` says whether it can be run again, on other inputs; `parts` whether some of its nodes
    can be run on given values, which healing and forcing need and which takes a graph. Ask before
    calling `run` and `run_part`.
    """

    name: str
    runs: bool
    parts: bool
    graph: Graph | None
    inputs: tuple[Feed, ...]
    outputs: tuple[Feed, ...]

    def verify(self) -> None:
        """Load the file as a user would. Raises Failure."""

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs in order. Raises Failure."""

    def run_all(self, feeds: Mapping[str, Array], store: Store) -> Partial:
        """Put the value of every tensor into the store, under the tensor's name."""

    def run_part(
        self,
        numbers: Sequence[int],
        wanted: Sequence[str],
        feeds: Mapping[str, Array],
        injections: Sequence[Injection] = (),
    ) -> dict[str, Array]:
        """Run some of the nodes on given boundary values. Raises Failure."""

    def tensors(self) -> list[Tensor]:
        """Return every tensor that `run_all` can give."""

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""


class Whole:
    """The part of a candidate that runs whole or not at all: for runtimes to derive from."""

    name = ""
    runs = True
    parts = False
    graph: Graph | None = None

    def verify(self) -> None:
        """Do nothing: opening it was the test."""

    def run_part(
        self,
        numbers: Sequence[int],  # noqa: ARG002 - as the protocol has it
        wanted: Sequence[str],  # noqa: ARG002
        feeds: Mapping[str, Array],  # noqa: ARG002
        injections: Sequence[Injection] = (),  # noqa: ARG002
    ) -> dict[str, Array]:
        """Raise Failure: `parts` is False."""
        raise Failure("run", f"{self.name} runs a model whole or not at all")


class RuntimeModule(Protocol):
    """A module of this folder."""

    NAME: str
    SUFFIXES: tuple[str, ...]

    def open_candidate(self, path: str, settings: Settings) -> Candidate:
        """Load a model file. Raises Failure and MissingExtra."""
