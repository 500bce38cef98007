"""An ONNX graph as data: who makes a tensor, who reads it, and models cut out of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from envcheck.conversion.arrays import Array

__all__ = ["Graph", "Injection", "Tensor"]

_SUFFIX = "__envcheck_injected"
_LARGE = 16 << 20
"""Bytes from which a weight is fed to a part instead of being copied into it."""
_SMALL = 4096
"""Bytes up to which an initialiser may be a shape or an axis, which shape inference needs."""


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor of the candidate. `order` is its place in execution order, `op` its maker's type.

    Inputs have order -2 and initialisers -1.
    """

    name: str
    op: str = ""
    order: int = 0
    node_name: str = ""
    index: int = 0


@dataclass(frozen=True, kw_only=True)
class Injection:
    """A value that replaces a tensor where nodes read it: everywhere, or in `readers` only."""

    tensor: str
    value: Array
    readers: frozenset[int] | None = None


class Graph:
    """A loaded ONNX model. Node numbers are places in execution order.

    That is the order in the file, except where a tool left a node before one that it reads.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        graph = model.graph
        self.nodes: list[Any] = _in_order(list(graph.node))
        self.initialisers: dict[str, Any] = {item.name: item for item in graph.initializer}
        self.inputs = [item for item in graph.input if item.name not in self.initialisers]
        self.outputs = [item.name for item in graph.output]
        self.maker: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        self._reads: list[tuple[str, ...]] = []
        for number, node in enumerate(self.nodes):
            self.maker.update({name: number for name in node.output if name})
            reads = tuple(dict.fromkeys((*(n for n in node.input if n), *_captured(node))))
            self._reads.append(reads)
            for name in reads:
                self.readers.setdefault(name, []).append(number)

    def without_weights(self) -> Any:
        """Return a model of the same nodes, with large initialisers as inputs of their shape."""
        import onnx

        graph = onnx.GraphProto(name="shapes")
        graph.node.extend(self.nodes)
        graph.input.extend(self.inputs)
        graph.output.extend(self.model.graph.output)
        for item in self.initialisers.values():
            if item.ByteSize() <= _SMALL:
                graph.initializer.append(item)
            else:
                info = onnx.helper.make_tensor_value_info(item.name, item.data_type, item.dims)
                graph.input.append(info)
        model = onnx.ModelProto(ir_version=self.model.ir_version, graph=graph)
        model.opset_import.extend(self.model.opset_import)
        return model

    def tensors(self) -> list[Tensor]:
        """Return every tensor: inputs, initialisers, then node outputs in execution order."""
        found = [Tensor(name=item.name, op="input", order=-2) for item in self.inputs]
        found += [Tensor(name=name, op="initialiser", order=-1) for name in self.initialisers]
        for number, node in enumerate(self.nodes):
            found += [
                Tensor(name=name, op=node.op_type, order=number, node_name=node.name, index=index)
                for index, name in enumerate(node.output)
                if name
            ]
        return found

    def reads(self, number: int) -> tuple[str, ...]:
        """Return the tensors that a node reads, those captured by its inner graphs included."""
        return self._reads[number]

    def initialiser(self, name: str) -> Array:
        """Return the value of an initialiser."""
        from onnx import numpy_helper

        return numpy_helper.to_array(self.initialisers[name])

    def downstream(
        self, tensors: Iterable[str], readers: frozenset[int] | None = None
    ) -> list[int]:
        """Return the nodes that depend on any of the tensors, in execution order.

        With `readers`, only these of the nodes that read the tensors themselves count.
        """
        queue: deque[int] = deque()
        for name in tensors:
            found = self.readers.get(name, [])
            queue.extend(n for n in found if readers is None or n in readers)
        seen = set(queue)
        while queue:
            for name in self.nodes[queue.popleft()].output:
                for number in self.readers.get(name, []):
                    if number not in seen:
                        seen.add(number)
                        queue.append(number)
        return sorted(seen)

    def upstream(self, tensor: str, stop: Collection[str] = ()) -> list[int]:
        """Return the nodes that a tensor depends on, not looking behind the tensors in `stop`."""
        seen: set[int] = set()
        queue = [tensor]
        while queue:
            name = queue.pop()
            number = self.maker.get(name)
            if number is None or number in seen:
                continue
            seen.add(number)
            queue.extend(item for item in self._reads[number] if item not in stop)
        return sorted(seen)

    def distances(self, starts: Iterable[str]) -> dict[str, int]:
        """Return the tensors reachable from `starts` with their distance in nodes."""
        found = dict.fromkeys(starts, 0)
        queue = deque(found)
        while queue:
            name = queue.popleft()
            for number in self.readers.get(name, []):
                for made in self.nodes[number].output:
                    if made and made not in found:
                        found[made] = found[name] + 1
                        queue.append(made)
        return found

    def boundary(self, numbers: Collection[int]) -> list[str]:
        """Return the tensors that a set of nodes reads and neither makes nor holds as weights."""
        inside = {name for number in numbers for name in self.nodes[number].output}
        found: dict[str, None] = {}
        for number in sorted(numbers):
            for name in self._reads[number]:
                if name not in inside and name not in self.initialisers:
                    found[name] = None
        return list(found)

    def part(
        self,
        numbers: Sequence[int],
        wanted: Sequence[str],
        feeds: Mapping[str, Array],
        injections: Sequence[Injection] = (),
    ) -> tuple[bytes, dict[str, Array]]:
        """Return a serialised model of some of the nodes and the values to feed it with.

        `feeds` gives a value for each tensor of the boundary. An injected tensor is read under
        another name by the nodes it is injected into; where it is made, it is made as before.
        """
        import onnx

        nodes, extra = self._rewired(numbers, injections)
        made = {name for node in nodes for name in node.output}
        needed = {name for node in nodes for name in (*node.input, *_captured(node)) if name}
        needed |= {name for name in wanted if name not in made}
        own = needed & set(self.initialisers)
        fed = {name for name in own if self.initialisers[name].ByteSize() > _LARGE}
        held = [self.initialisers[name] for name in sorted(own - fed)]
        names = needed - made - own
        extra.update({name: self.initialiser(name) for name in fed})
        names |= fed
        values = {name: extra[name] if name in extra else feeds[name] for name in sorted(names)}
        graph = onnx.GraphProto(name="part")
        graph.node.extend(nodes)
        graph.initializer.extend(held)
        graph.input.extend(_typed(name, value) for name, value in values.items())
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
        model = onnx.ModelProto(ir_version=self.model.ir_version, graph=graph)
        model.opset_import.extend(self.model.opset_import)
        model.functions.extend(self.model.functions)
        return model.SerializeToString(), values

    def _rewired(
        self, numbers: Sequence[int], injections: Sequence[Injection]
    ) -> tuple[list[Any], dict[str, Array]]:
        nodes, extra = [], {}
        by_reader: dict[int, dict[str, str]] = {}
        for place, injection in enumerate(injections):
            name = f"{injection.tensor}{_SUFFIX}{place}"
            for number in self.readers.get(injection.tensor, []):
                if injection.readers is None or number in injection.readers:
                    by_reader.setdefault(number, {})[injection.tensor] = name
                    extra[name] = injection.value
        for number in numbers:
            node = self.nodes[number]
            renamed = by_reader.get(number)
            nodes.append(_renamed(node, renamed) if renamed else node)
        return nodes, extra


def _in_order(nodes: list[Any]) -> list[Any]:
    """Return nodes so that each follows those it reads, otherwise in the order given."""
    maker = {name: number for number, node in enumerate(nodes) for name in node.output if name}
    reads = [
        {maker[name] for name in (*node.input, *_captured(node)) if name in maker} for node in nodes
    ]
    if all(source < number for number, sources in enumerate(reads) for source in sources):
        return nodes
    waiting = [len(sources) for sources in reads]
    readers: dict[int, list[int]] = {}
    for number, sources in enumerate(reads):
        for source in sources:
            readers.setdefault(source, []).append(number)
    ready = [number for number, count in enumerate(waiting) if not count]
    ordered: list[int] = []
    while ready:
        number = heappop(ready)
        ordered.append(number)
        for reader in readers.get(number, []):
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, reader)
    rest = sorted(set(range(len(nodes))) - set(ordered))  # a cycle: the engine will say so
    return [nodes[number] for number in (*ordered, *rest)]


def _captured(node: Any) -> list[str]:
    """Return the tensors that inner graphs of a node (Loop, If, Scan) read from outside."""
    found: list[str] = []
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs) if attribute.type in (5, 10) else ():
            inside = {item.name for item in (*graph.initializer, *graph.input)}
            inside |= {name for inner in graph.node for name in inner.output}
            reads = [n for inner in graph.node for n in (*inner.input, *_captured(inner)) if n]
            reads += [item.name for item in graph.output]
            found += [name for name in reads if name not in inside]
    return found


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a node that reads other tensors."""
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for place, name in enumerate(copy.input):
        copy.input[place] = names.get(name, name)
    for attribute in copy.attribute:
        for graph in (attribute.g, *attribute.graphs) if attribute.type in (5, 10) else ():
            _rename_inside(graph, names)
    return copy


def _rename_inside(graph: Any, names: Mapping[str, str]) -> None:
    import onnx

    inside = {item.name for item in (*graph.initializer, *graph.input)}
    inside |= {name for inner in graph.node for name in inner.output}
    outer = {old: new for old, new in names.items() if old not in inside}
    for place, inner in enumerate(list(graph.node)):
        graph.node[place].CopyFrom(_renamed(inner, outer))
    exported = [item.name for item in graph.output if item.name in outer]
    for name in exported:  # an inner graph may hand an outer tensor through
        fresh = f"{name}{_SUFFIX}_through"
        graph.node.append(onnx.helper.make_node("Identity", [outer[name]], [fresh]))
        for item in graph.output:
            if item.name == name:
                item.name = fresh


def _typed(name: str, value: Array) -> Any:
    import onnx

    kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    if value.dtype.kind in "OSU":
        kind = onnx.TensorProto.STRING
    shape = None if value.ndim == 0 and value.size != 1 else list(value.shape)
    return onnx.helper.make_tensor_value_info(name, kind, shape)
