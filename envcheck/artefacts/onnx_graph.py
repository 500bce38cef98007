"""The graph of an ONNX model: nodes, initialisers, inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from envcheck.artefacts.onnx_types import element_type, is_quantised_operator
from envcheck.artefacts.protobuf import Field, Message, signed
from envcheck.artefacts.reading import Unreadable

__all__ = ["Graph", "Reference", "new_graph", "read_function", "read_graph"]

_MOST_OPERATORS = 5_000
_MOST_VALUES = 1_000
_MOST_DIMENSIONS = 64
_MOST_REFERENCES = 200_000


@dataclass(frozen=True)
class Reference:
    """Where an initialiser keeps its bytes outside the model file."""

    location: str
    end: int
    """The first byte after the tensor in that file, 0 when the length is not given."""


@dataclass
class Graph:
    """What was gathered over a graph, its subgraphs and the functions."""

    nodes: int = 0
    operators: set[tuple[str, str]] = field(default_factory=set)
    quantised: set[str] = field(default_factory=set)
    weight_types: set[str] = field(default_factory=set)
    initialised: set[int] = field(default_factory=set)
    """Hashes of the names of initialisers, which older models list as inputs too."""
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    external: dict[str, Reference] = field(default_factory=dict)

    def operator_names(self) -> list[str]:
        """Return the operators as `Conv` or `com.microsoft:FusedConv`, sorted."""
        return sorted(f"{domain}:{name}" if domain else name for domain, name in self.operators)


def new_graph() -> Graph:
    """Return an empty graph."""
    return Graph()


def read_graph(message: Message, graph: Graph, *, top: bool = False) -> None:
    """Take a GraphProto in; `top` when its inputs and outputs are those of the model."""
    for entry in message.fields():
        if entry.number == 1:
            _read_node(message.message(entry), graph)
        elif entry.number == 5:
            name = _read_tensor(message.message(entry), graph)
            if top and len(graph.initialised) < _MOST_REFERENCES:
                graph.initialised.add(hash(name))
        elif entry.number == 15:
            _read_sparse(message.message(entry), graph)
        elif entry.number in (11, 12) and top:
            values = graph.inputs if entry.number == 11 else graph.outputs
            if len(values) >= _MOST_VALUES + len(graph.initialised):
                raise Unreadable(f"has more than {_MOST_VALUES} inputs or outputs")
            values.append(_value(message.message(entry)))


def read_function(message: Message, graph: Graph) -> str:
    """Take a FunctionProto in and return the domain that it defines an operator of."""
    domain = ""
    for entry in message.fields():
        if entry.number == 7:
            _read_node(message.message(entry), graph)
        elif entry.number == 10:
            domain = _domain(message, entry)
    return domain


def _domain(message: Message, entry: Field) -> str:
    domain = message.text(entry)
    return "" if domain == "ai.onnx" else domain


def _read_node(node: Message, graph: Graph) -> None:
    operator = domain = ""
    for entry in node.fields():
        if entry.number == 4:
            operator = node.text(entry)
        elif entry.number == 5:
            _read_attribute(node.message(entry), graph)
        elif entry.number == 7:
            domain = _domain(node, entry)
    graph.nodes += 1
    graph.operators.add((domain, operator))
    if len(graph.operators) > _MOST_OPERATORS:
        raise Unreadable(f"uses more than {_MOST_OPERATORS} different operators")
    if is_quantised_operator(operator):
        graph.quantised.add(operator)


def _read_attribute(attribute: Message, graph: Graph) -> None:
    for entry in attribute.fields():
        if entry.number in (5, 10):
            _read_tensor(attribute.message(entry), graph, weight=False)
        elif entry.number in (6, 11):
            read_graph(attribute.message(entry), graph)
        elif entry.number in (22, 23):
            _read_sparse(attribute.message(entry), graph)


def _read_sparse(sparse: Message, graph: Graph) -> None:
    for entry in sparse.fields():
        if entry.number in (1, 2):
            _read_tensor(sparse.message(entry), graph)


def _read_tensor(tensor: Message, graph: Graph, *, weight: bool = True) -> str:
    """Take the head of a tensor in and return its name; its data is passed over."""
    name, outside = "", False
    entries: dict[str, str] = {}
    for entry in tensor.fields():
        if entry.number == 2 and weight:
            graph.weight_types.add(element_type(entry.value))
            if len(graph.weight_types) > _MOST_DIMENSIONS:
                raise Unreadable("its initialisers have element types that do not exist")
        elif entry.number == 8:
            name = tensor.text(entry)
        elif entry.number == 13:
            key, value = _pair(tensor.message(entry))
            if len(entries) < _MOST_DIMENSIONS:
                entries[key] = value
        elif entry.number == 14:
            outside = entry.value == 1
    if outside:
        _refer(entries, graph)
    return name


def _refer(entries: dict[str, str], graph: Graph) -> None:
    """Remember a file of external data, with the furthest byte that is needed of it."""
    location = entries.get("location", "")
    end = _natural(entries.get("offset", "0")) + _natural(entries.get("length", "0"))
    known = graph.external.get(location)
    if known is None and len(graph.external) >= _MOST_REFERENCES:
        raise Unreadable(f"refers to more than {_MOST_REFERENCES} files")
    if known is None or known.end < end:
        graph.external[location] = Reference(location, end)


def _natural(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _pair(entry: Message) -> tuple[str, str]:
    """Return a StringStringEntryProto."""
    key = value = ""
    for found in entry.fields():
        if found.number == 1:
            key = entry.text(found)
        elif found.number == 2:
            value = entry.text(found)
    return key, value


def _value(info: Message) -> dict[str, Any]:
    """Return a ValueInfoProto: name, element type, and shape where one is stated."""
    out: dict[str, Any] = {"name": "", "dtype": "undefined"}
    for entry in info.fields():
        if entry.number == 1:
            out["name"] = info.text(entry)
        elif entry.number == 2:
            out.update(_type(info.message(entry)))
    return out


_KINDS = {4: "sequence", 5: "map", 7: "opaque", 8: "sparse", 9: "optional"}


def _type(kind: Message) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for entry in kind.fields():
        if entry.number == 1:
            out.update(_tensor_type(kind.message(entry)))
        elif entry.number in _KINDS:
            out["dtype"] = _KINDS[entry.number]
    return out


def _tensor_type(kind: Message) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for entry in kind.fields():
        if entry.number == 1:
            out["dtype"] = element_type(entry.value)
        elif entry.number == 2:
            out["shape"] = _shape(kind.message(entry))
    return out


def _shape(shape: Message) -> list[Any]:
    """Return the dimensions: a number, a symbol, or None where neither is stated."""
    out: list[Any] = []
    for entry in shape.fields():
        if entry.number != 1:
            continue
        if len(out) == _MOST_DIMENSIONS:
            raise Unreadable(f"a shape has more than {_MOST_DIMENSIONS} dimensions")
        dimension = shape.message(entry)
        size: Any = None
        for found in dimension.fields():
            if found.number == 1:
                size = signed(found.value)
            elif found.number == 2:
                size = dimension.text(found) or None
        out.append(size)
    return out
