"""One graph of a TensorFlow SavedModel (MetaGraphDef)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from envcheck.artefacts.protobuf import Field, Message, signed
from envcheck.artefacts.reading import Unreadable

__all__ = ["MetaGraph", "read_meta_graph"]

_MOST_NAMES = 5_000
_MOST_SIGNATURES = 200
_MOST_DIMENSIONS = 64
_TYPES = (
    "invalid", "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64",
    "int64", "bool", "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16",
    "complex128", "float16", "resource", "variant", "uint32", "uint64", "float8_e5m2",
    "float8_e4m3fn",
)  # fmt: skip
"""DataType of types.proto by number."""


@dataclass
class MetaGraph:
    """What one graph says."""

    tensorflow: str = ""
    git: str = ""
    producer: int | None = None
    min_consumer: int = 0
    tags: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)
    signatures: list[dict[str, Any]] = field(default_factory=list)

    def versions(self) -> dict[str, Any]:
        """Return the versions of the writer, as far as the graph names them."""
        out: dict[str, Any] = {"min_consumer": self.min_consumer}
        if self.tensorflow:
            out["tensorflow_version"] = self.tensorflow
        if self.git:
            out["tensorflow_git_version"] = self.git
        if self.producer is not None:
            out["graph_producer"] = self.producer
        return out


def read_meta_graph(message: Message) -> MetaGraph:
    """Return one MetaGraphDef."""
    graph = MetaGraph()
    for entry in message.fields():
        if entry.number == 1:
            _read_info(message.message(entry), graph)
        elif entry.number == 2:
            _read_definition(message.message(entry), graph)
        elif entry.number == 5:
            if len(graph.signatures) >= _MOST_SIGNATURES:
                raise Unreadable(f"has more than {_MOST_SIGNATURES} signatures")
            graph.signatures.append(_signature(message.message(entry)))
    graph.signatures.sort(key=lambda item: str(item["name"]))
    return graph


def _read_info(info: Message, graph: MetaGraph) -> None:
    for entry in info.fields():
        if entry.number == 2:
            operators = info.message(entry)
            for found in operators.fields():
                if found.number == 1:
                    _add(graph.operators, _first_text(operators.message(found), 1))
        elif entry.number == 4:
            _add(graph.tags, info.text(entry))
        elif entry.number == 5:
            graph.tensorflow = info.text(entry)
        elif entry.number == 6:
            graph.git = info.text(entry)


def _read_definition(definition: Message, graph: MetaGraph) -> None:
    for entry in definition.fields():
        if entry.number == 4:
            _read_versions(definition.message(entry), graph)
        elif entry.number == 1:
            _add(graph.operators, _first_text(definition.message(entry), 2))
        elif entry.number == 2:
            _read_library(definition.message(entry), graph)


def _read_library(library: Message, graph: MetaGraph) -> None:
    """Take the operators of all functions in: stripped lists of hostile files may lie."""
    for entry in library.fields():
        if entry.number == 1:
            function = library.message(entry)
            for found in function.fields():
                if found.number == 3:
                    _add(graph.operators, _first_text(function.message(found), 2))


def _read_versions(versions: Message, graph: MetaGraph) -> None:
    for entry in versions.fields():
        if entry.number == 1:
            graph.producer = signed(entry.value)
        elif entry.number == 2:
            graph.min_consumer = signed(entry.value)


def _add(names: set[str], name: str) -> None:
    names.add(name)
    if len(names) > _MOST_NAMES:
        raise Unreadable(f"uses more than {_MOST_NAMES} different operators")


def _first_text(message: Message, number: int) -> str:
    """Return the first string field of that number, '' when there is none."""
    for entry in message.fields():
        if entry.number == number:
            return message.text(entry)
    return ""


def _signature(pair: Message) -> dict[str, Any]:
    """Return one entry of the map of signatures."""
    out: dict[str, Any] = {"name": "", "inputs": [], "outputs": []}
    for entry in pair.fields():
        if entry.number == 1:
            out["name"] = pair.text(entry)
        elif entry.number == 2:
            definition = pair.message(entry)
            for found in definition.fields():
                if found.number in (1, 2):
                    kind = "inputs" if found.number == 1 else "outputs"
                    out[kind].append(_tensor(definition, found))
    for kind in ("inputs", "outputs"):
        out[kind].sort(key=lambda item: str(item["name"]))
    return out


def _tensor(definition: Message, found: Field) -> dict[str, Any]:
    """Return one entry of a map of TensorInfo: name, element type and shape."""
    out: dict[str, Any] = {"name": "", "dtype": "invalid"}
    pair = definition.message(found)
    for entry in pair.fields():
        if entry.number == 1:
            out["name"] = pair.text(entry)
        elif entry.number == 2:
            info = pair.message(entry)
            for part in info.fields():
                if part.number == 2:
                    known = part.value < len(_TYPES)
                    out["dtype"] = _TYPES[part.value] if known else str(part.value)
                elif part.number == 3:
                    _read_shape(info.message(part), out)
    return out


def _read_shape(shape: Message, out: dict[str, Any]) -> None:
    dimensions: list[Any] = []
    for entry in shape.fields():
        if entry.number == 3 and entry.value:
            return
        if entry.number == 2:
            if len(dimensions) == _MOST_DIMENSIONS:
                raise Unreadable(f"a shape has more than {_MOST_DIMENSIONS} dimensions")
            dimensions.append(_size(shape.message(entry)))
    out["shape"] = dimensions


def _size(dimension: Message) -> Any:
    size = 0
    for entry in dimension.fields():
        if entry.number == 1:
            size = signed(entry.value)
    return None if size < 0 else size
