"""An ONNX candidate under any engine that runs serialised models."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from envcheck.conversion.graphs import Graph, Injection, Tensor
from envcheck.conversion.runtimes.protocol import Failure, Feed, Partial
from envcheck.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.stores import Store

__all__ = ["OnnxCandidate", "load_model"]

_NODE_NAME = re.compile(
    r"""[Nn]ame:\s*'([^']+)'|In Node, \("([^"]+)"|node \(([^)]+)\)|Node \(([^)]+)\)"""
)
_MOST_FAILURES = 4
_LARGEST_CONSTANT = 4 << 20
"""Bytes up to which an initialiser is taken for a value that a layer may have."""
RUN = 40
"""Nodes that run together: one session over all of them takes longer, and more memory."""
SEGMENT = 10
"""Nodes per segment where all tensors together exceed the budget."""


def load_model(path: str) -> Any:
    """Return an ONNX model with its weights. Raises InputError and MissingExtra."""
    try:
        import onnx
    except ImportError as problem:
        raise MissingExtra("onnx", "onnx", "reading an ONNX file") from problem
    try:
        model = onnx.load(path, load_external_data=False)
    except FileNotFoundError as problem:
        raise InputError("does not exist", place=path) from problem
    except Exception as problem:
        raise InputError(
            f"cannot be read as ONNX: {type(problem).__name__}", place=path,
            hint="the file is truncated, or is something else",
        ) from problem  # fmt: skip
    if not model.graph.node and not model.graph.output:
        raise InputError("holds no ONNX graph", place=path)
    _load_external(model, path)
    return model


def _load_external(model: Any, path: str) -> None:
    """Read weights from files beside the model; files outside its folder are refused."""
    import onnx
    from onnx.external_data_helper import load_external_data_for_model, uses_external_data

    if not any(uses_external_data(item) for item in model.graph.initializer):
        return
    folder = os.path.dirname(os.path.abspath(path))
    for item in model.graph.initializer:
        for entry in item.external_data if uses_external_data(item) else ():
            if entry.key == "location":
                _check_inside(folder, entry.value, path)
    try:
        load_external_data_for_model(model, folder)
    except (OSError, ValueError, onnx.checker.ValidationError) as problem:
        raise InputError(f"its external weights cannot be read: {problem}", place=path) from problem


def _check_inside(folder: str, location: str, path: str) -> None:
    root = os.path.realpath(folder)
    target = os.path.realpath(os.path.join(root, location))
    if os.path.isabs(location) or os.path.commonpath([root, target]) != root:
        raise InputError(
            f"keeps weights in {location!r}, outside its own folder; that file is not read",
            place=path,
            hint="put the model and its weights into one folder",
        )
    if not os.path.isfile(target):
        raise InputError(f"its external weights {location!r} are missing", place=path)


class OnnxCandidate(ABC):
    """A graph and an engine: `execute(serialised model, feeds, wanted)`."""

    name = ""
    runs = True
    parts = True

    def __init__(self, path: str, *, budget: int) -> None:
        self.path = path
        self.graph = Graph(load_model(path))
        self._budget = budget
        self.inputs = tuple(_feed(item) for item in self.graph.inputs)
        self.outputs = tuple(_feed(item) for item in self.graph.model.graph.output)

    @abstractmethod
    def execute(
        self, model: bytes, feeds: Mapping[str, Array], wanted: Sequence[str]
    ) -> list[Array]:
        """Run a serialised model. Raises Failure."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""

    def verify(self) -> None:  # noqa: B027 - an engine may have no other way of loading
        """Load the file as it is, as a user would. Raises Failure."""

    def tensors(self) -> list[Tensor]:
        """Return every tensor of the graph."""
        return self.graph.tensors()

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs of the whole model."""
        found = self.run_part(range(len(self.graph.nodes)), self.graph.outputs, feeds)
        return [found[name] for name in self.graph.outputs]

    def run_part(
        self,
        numbers: Sequence[int],
        wanted: Sequence[str],
        feeds: Mapping[str, Array],
        injections: Sequence[Injection] = (),
    ) -> dict[str, Array]:
        """Run some of the nodes on given boundary values."""
        wanted = list(dict.fromkeys(wanted))
        model, values = self.graph.part(numbers, wanted, feeds, injections)
        return dict(zip(wanted, self.execute(model, values, wanted), strict=True))

    def run_all(self, feeds: Mapping[str, Array], store: Store) -> Partial:
        """Put the value of every tensor into the store; nodes behind a failing one are left out."""
        graph, partial = self.graph, Partial()
        for name, value in feeds.items():
            store.put(name, value)
        for name, item in graph.initialisers.items():
            if item.ByteSize() <= _LARGEST_CONSTANT:
                store.put(name, graph.initialiser(name))
        alive = list(range(len(graph.nodes)))
        for _ in range(_MOST_FAILURES):
            try:
                self._run_segments(alive, store)
            except Failure as failure:
                partial.failure = partial.failure or failure
                dead = self._behind(failure.node)
                alive = [number for number in alive if number not in dead]
                if not dead or not alive:
                    break
            else:
                break
        partial.missing = [t.name for t in graph.tensors() if t.name not in store]
        return partial

    def _behind(self, node_name: str) -> set[int]:
        """Return a failing node and all that depends on it; nothing when it is not known."""
        for number, node in enumerate(self.graph.nodes):
            if node_name and node.name == node_name:
                return {number, *self.graph.downstream(list(node.output))}
        return set()

    def _run_segments(self, alive: list[int], store: Store) -> None:
        """Run in long segments where the tensors fit the budget, else in short ones."""
        size = RUN if self._weight(store) <= self._budget else SEGMENT
        for start in range(0, len(alive), max(size, 1)):
            numbers = alive[start : start + size]
            wanted = [name for n in numbers for name in self.graph.nodes[n].output if name]
            if all(name in store for name in wanted):
                continue
            feeds = {name: store.get(name) for name in self.graph.boundary(numbers)}
            for name, value in self.run_part(numbers, wanted, feeds).items():
                store.put(name, value)

    def _weight(self, store: Store) -> int:
        """Return a guess of the bytes of all tensors: inferred shapes, batch as fed."""
        import onnx

        try:
            inferred = onnx.shape_inference.infer_shapes(self.graph.without_weights())
        except Exception:  # noqa: BLE001 - models over 2 GB, or of shapes that contradict
            return self._budget + 1
        batch = max((store.get(item.name).shape[0] for item in self.graph.inputs
                     if item.name in store and store.get(item.name).ndim), default=1)  # fmt: skip
        total = 0
        for info in inferred.graph.value_info:
            sizes = [d.dim_value or batch for d in info.type.tensor_type.shape.dim]
            product = 4
            for size in sizes:
                product *= size
            total += product
        return total


def _feed(item: Any) -> Feed:
    import onnx

    kind = item.type.tensor_type
    try:
        dtype = str(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except (KeyError, TypeError, ValueError):
        dtype = "unknown"
    if not kind.HasField("shape"):
        return Feed(name=item.name, dtype=dtype, shape=())
    shape = tuple(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)
    return Feed(name=item.name, dtype=dtype, shape=shape)


def node_in(message: str) -> str:
    """Return the name of the node that an engine's message blames, or nothing."""
    found = _NODE_NAME.search(message)
    return next((part for part in found.groups() if part), "") if found else ""
