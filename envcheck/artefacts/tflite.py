"""TFLite (LiteRT) models: a flatbuffer with the file identifier TFL3.

Field indices are those of schema.fbs of TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.flatbuffer import Table, root_table
from envcheck.artefacts.reading import Source, Truncated, Unreadable, clip

__all__ = ["IDENTIFIER", "is_tflite", "read_tflite"]

IDENTIFIER = b"TFL3"
_VERSION, _CODES, _SUBGRAPHS, _BUFFERS, _METADATA = 0, 1, 2, 4, 6
_TYPES = (
    "float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64",
    "int8", "float64", "complex128", "uint64", "resource", "variant", "uint32", "uint16",
    "int4", "bfloat16", "int2", "uint4",
)  # fmt: skip
"""TensorType by number."""
_QUANTISED = {"int8", "uint8", "int4", "uint4", "int2"}
_MOST_NAMES = 1_000
_MOST_DIMENSIONS = 64


def is_tflite(source: Source) -> bool:
    """Return whether the file carries the identifier of a TFLite model."""
    return source.peek(4, 4) == IDENTIFIER


def read_tflite(source: Source) -> dict[str, Any]:
    """Return the facts of a TFLite model."""
    model = root_table(source)
    subgraphs = list(_bounded(model, _SUBGRAPHS))
    if not subgraphs:
        raise Unreadable("holds no graph: it is no TFLite model, or it is cut off")
    _check_buffers(model, source)
    types, quantised = _tensor_types(subgraphs)
    custom = _custom_operators(model)
    runtime = _metadata(model, source, "min_runtime_version")
    return {
        "schema_version": model.number(_VERSION, 4),
        "quantised": bool(quantised),
        "tensor_types": sorted(types),
        "custom_ops": custom,
        "flex_ops": [name for name in custom if name.startswith("Flex")],
        **({"min_runtime_version": runtime} if runtime else {}),
        "inputs": _interface(subgraphs[0], 1),
        "outputs": _interface(subgraphs[0], 2),
        "node_count": sum(graph.vector(3, 4)[0] for graph in subgraphs),
        "holds_code": False,
        "imports": [],
    }


def _bounded(table: Table, index: int) -> list[Table]:
    if table.vector(index, 4)[0] > _MOST_NAMES:
        raise Unreadable(f"has more than {_MOST_NAMES} graphs or operators")
    return list(table.tables(index))


def _check_buffers(model: Table, source: Source) -> None:
    """Raise where the weights reach past the end of the file."""
    for buffer in model.tables(_BUFFERS):
        buffer.vector(0)
        if buffer.number(1, 8) + buffer.number(2, 8) > source.size:
            raise Truncated("the file is truncated: its weights reach past the end")


def _tensor_types(subgraphs: list[Table]) -> tuple[set[str], set[str]]:
    """Return the element types of all tensors, and of those with a quantisation scale."""
    types, quantised = set(), set()
    for graph in subgraphs:
        for tensor in graph.tables(0):
            name = _type(tensor)
            types.add(name)
            scales = tensor.table(4)
            if name in _QUANTISED and scales is not None and scales.vector(2, 4)[0]:
                quantised.add(name)
    return types, quantised


def _type(tensor: Table) -> str:
    number = tensor.number(1, 1)
    return _TYPES[number] if number < len(_TYPES) else str(number)


def _custom_operators(model: Table) -> list[str]:
    """Return the names of custom operators. Reads whole entries: they lie at the file's end."""
    names = set()
    for code in _bounded(model, _CODES):
        code.number(0, 1)
        code.number(2, 4)
        code.number(3, 4)
        if code.has(1):
            names.add(code.text(1))
    return sorted(names)


def _metadata(model: Table, source: Source, wanted: str) -> str:
    """Return the text of a metadata buffer, '' when there is none of that name."""
    for entry in _bounded(model, _METADATA):
        if entry.text(0) == wanted:
            buffer = model.nth(_BUFFERS, entry.number(1, 4))
            count, start = buffer.vector(0) if buffer else (0, 0)
            data = source.exactly(start, min(count, 64)) if count else b""
            return clip(data.split(b"\0", 1)[0].decode("ascii", "replace"))
    return ""


def _interface(graph: Table, index: int) -> list[dict[str, Any]]:
    """Return name, element type and shape of the graph's inputs or outputs."""
    out: list[dict[str, Any]] = []
    for number in graph.numbers(index, 4):
        tensor = graph.nth(0, number)
        if tensor is None or len(out) == _MOST_NAMES:
            raise Unreadable("its graph has an input or output that does not exist")
        signature = 7 if tensor.vector(7, 4)[0] else 0
        if tensor.vector(signature, 4)[0] > _MOST_DIMENSIONS:
            raise Unreadable(f"a shape has more than {_MOST_DIMENSIONS} dimensions")
        shape = [None if size < 0 else size for size in tensor.numbers(signature, 4)]
        out.append({"name": tensor.text(3), "dtype": _type(tensor), "shape": shape})
    return out
