"""What a recording of the reference model holds: its calls, and how they feed each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.stores import Store

__all__ = ["INPUT", "Call", "Port", "Recording"]

INPUT = -1
"""The call number that stands for the model's own inputs."""


@dataclass(frozen=True, order=True)
class Port:
    """One output of one call, or one input of the model."""

    call: int
    index: int = 0

    @property
    def key(self) -> str:
        """The name of its value in the store."""
        return f"{self.call}:{self.index}"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One invocation of a layer or operation.

    `index` counts the invocations of a shared layer, from 0. `inputs` are the ports it reads,
    `within` the call of the container that made it (or None), `weighted` whether it owns weights.
    `passes` says that it returned one of its inputs itself, as Dropout does at inference.
    """

    id: int
    path: str
    layer_class: str
    index: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    within: int | None
    weighted: bool = False
    passes: bool = False

    @property
    def label(self) -> str:
        """The path, with the number of the call where a layer is shared."""
        return f"{self.path} (call {self.index + 1})" if self.index else self.path


@dataclass(kw_only=True)
class Recording:
    """The calls of one run in the order in which they ended, with their values in `store`."""

    calls: list[Call] = field(default_factory=list)
    input_names: tuple[str, ...] = ()
    outputs: tuple[Port, ...] = ()
    output_names: tuple[str, ...] = ()
    layers: dict[int, Any] = field(default_factory=dict)
    store: Store
    containers: dict[int, tuple[Port, ...]] = field(default_factory=dict)
    """Ports that hold the outputs of containers, by the number that `Call.within` gives."""
    container_of: dict[int, tuple[str, str, int | None]] = field(default_factory=dict)
    """Path, class and enclosing container of each container."""

    def value(self, port: Port) -> Array:
        """Return the value of a port."""
        return self.store.get(port.key)

    def has(self, port: Port) -> bool:
        """Return whether the value of a port was recorded."""
        return port.key in self.store

    def consumers(self) -> dict[int, list[int]]:
        """Return, by call, the calls that read it, in order."""
        readers: dict[int, list[int]] = {call.id: [] for call in self.calls}
        for call in self.calls:
            for source in dict.fromkeys(port.call for port in call.inputs):
                if source in readers:
                    readers[source].append(call.id)
        return readers
