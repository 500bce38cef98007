"""safetensors files: the JSON header and whether the data behind it is complete."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.bounded_json import parse
from envcheck.artefacts.reading import Source, Truncated, Unreadable, clip

__all__ = ["is_safetensors", "read_safetensors"]

_LARGEST_HEADER = 16 << 20
_LARGEST_ALLOWED = 100_000_000
"""The format's own limit of a header."""
_MOST_TYPES = 64


def is_safetensors(source: Source) -> bool:
    """Return whether the file begins as a safetensors file does: a length, then JSON."""
    head = source.peek(0, 9)
    return (
        len(head) == 9
        and 2 <= int.from_bytes(head[:8], "little") <= _LARGEST_ALLOWED
        and (head[8:] == b"{")
    )


def read_safetensors(source: Source) -> dict[str, Any]:
    """Return the facts of a safetensors file."""
    length = source.number(0, 8)
    if length > _LARGEST_HEADER:
        raise Unreadable(f"its header claims {length} bytes, more than any model needs")
    header = parse(source.exactly(8, length), "its header")
    if not isinstance(header, dict):
        raise Unreadable("its header is no JSON object")
    metadata = header.pop("__metadata__", {})
    types, end = set(), 0
    for name, tensor in header.items():
        kind, last = _tensor(name, tensor)
        types.add(kind)
        end = max(end, last)
    if len(types) > _MOST_TYPES:
        raise Unreadable("its tensors have element types that do not exist")
    _check_size(source.size - 8 - length, end)
    out: dict[str, Any] = {
        "tensor_count": len(header),
        "tensor_types": sorted(types),
        "quantised": bool(types & {"I8", "U8"}),
        "holds_code": False,
        "imports": [],
    }
    origin = metadata.get("format") if isinstance(metadata, dict) else None
    return {**out, "metadata_format": clip(origin)} if isinstance(origin, str) else out


def _tensor(name: str, tensor: Any) -> tuple[str, int]:
    """Return the element type of a tensor and the first byte after it."""
    kind = tensor.get("dtype") if isinstance(tensor, dict) else None
    offsets = tensor.get("data_offsets") if isinstance(tensor, dict) else None
    if isinstance(kind, str) and isinstance(offsets, list) and len(offsets) == 2:
        start, end = offsets
        if type(start) is int and type(end) is int and 0 <= start <= end:
            return clip(kind), end
    raise Unreadable(f"its header says nothing usable about tensor {clip(name)}")


def _check_size(there: int, end: int) -> None:
    if there < end:
        raise Truncated(f"the file is truncated: {end} bytes of tensors, {there} there")
    if there > end:
        raise Unreadable(f"has {there - end} bytes that belong to no tensor")
