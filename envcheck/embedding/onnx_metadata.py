"""ONNX: one entry of `metadata_props`, appended to the file as a protobuf record.

A protobuf message may have its fields in any order, so a record at the end is as good as one
written by the exporter, and nothing else of the file is touched. CPython 3.9, standard library.
"""

from __future__ import annotations

from collections.abc import Iterator

from envcheck.artefacts.onnx_model import METADATA_FIELD
from envcheck.artefacts.protobuf import Field, Message
from envcheck.artefacts.reading import Source, Unreadable, open_regular
from envcheck.embedding.replacing import replacing
from envcheck.fingerprint.files import SIZE_LIMIT

__all__ = ["KEY", "read", "write"]

KEY = b"envcheck.fingerprint"
_GRAPH_FIELD = 7
_LARGEST_MESSAGE = (1 << 31) - 1
"""Protobuf reads no larger message; weights beyond that lie in files beside the model."""


def read(path: str) -> bytes | None:
    """Return what the model carries. Raises Unreadable where it carries two, or too much."""
    with open_regular(path) as source:
        message = Message(source)
        values = [_value(message.message(field)) for field in _ours(message)]
    if len(values) > 1:
        raise Unreadable(f"carries {len(values)} fingerprints: which one counts is not clear")
    return values[0] if values else None


def write(path: str, data: bytes) -> None:
    """Put `data` in, in place of what the model carries. Raises Unreadable and OSError."""
    record = _record(data)
    with open_regular(path) as source:
        pieces = list(_rest(source))
        if sum(end - start for start, end in pieces) + len(record) > _LARGEST_MESSAGE:
            raise Unreadable("would be larger than the 2 GiB that a protobuf file may have")
        with replacing(path) as stream:
            for start, end in pieces:
                for chunk in source.chunks(start, end):
                    stream.write(chunk)
            stream.write(record)


def _ours(message: Message) -> Iterator[Field]:
    for field in message.fields():
        if field.number == METADATA_FIELD and _is_ours(message.message(field)):
            yield field


def _rest(source: Source) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges that stay: everything but our own records."""
    position, graphs = 0, 0
    message = Message(source)
    for field in message.fields():
        graphs += field.number == _GRAPH_FIELD
        if field.number == METADATA_FIELD and _is_ours(message.message(field)):
            yield position, field.record
            position = field.end
    if not graphs:
        raise Unreadable("holds no graph: it is no ONNX model, or it is cut off")
    yield position, source.size


def _is_ours(entry: Message) -> bool:
    return any(
        field.number == 1
        and field.end - field.start == len(KEY)
        and entry.source.exactly(field.start, len(KEY)) == KEY
        for field in entry.fields()
    )


def _value(entry: Message) -> bytes:
    data = b""
    for field in entry.fields():
        if field.number == 2 and field.end > field.start:
            if field.end - field.start > SIZE_LIMIT:
                raise Unreadable(f"carries a fingerprint of more than {SIZE_LIMIT >> 20} MiB")
            data = entry.source.exactly(field.start, field.end - field.start)
    return data


def _record(data: bytes) -> bytes:
    entry = _bytes_field(1, KEY) + _bytes_field(2, data)
    return _bytes_field(METADATA_FIELD, entry)


def _bytes_field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
