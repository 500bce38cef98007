"""Walk the fields of a protobuf message in a file, seeking over what is not wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envcheck.artefacts.reading import Source, Truncated, Unreadable, clip

__all__ = ["DEEPEST", "MOST_FIELDS", "Field", "Message", "signed"]

DEEPEST = 64
"""Levels of nesting followed; protobuf's own parsers stop at 100."""
MOST_FIELDS = 1_000_000
"""Fields visited in one file. A graph of 30,000 nodes has about half of that."""
_LONGEST_STRING = 1 << 16
_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)


class Field(NamedTuple):
    """One field: its number, its value when it is a number, and where its bytes lie."""

    number: int
    wire: int
    value: int
    start: int
    end: int
    record: int
    """Offset of the tag, where the record of the whole field begins."""


class _Budget:
    """Fields still allowed, counted over all messages of one file."""

    def __init__(self) -> None:
        self.left = MOST_FIELDS


class Message:
    """A message between two offsets of a file."""

    def __init__(
        self,
        source: Source,
        start: int = 0,
        end: int | None = None,
        *,
        parent: Message | None = None,
    ) -> None:
        self.source = source
        self.start = start
        self.end = source.size if end is None else end
        self._depth: int = parent._depth + 1 if parent else 0
        self._budget: _Budget = parent._budget if parent else _Budget()
        if self._depth > DEEPEST:
            raise Unreadable(f"messages are nested more than {DEEPEST} levels deep")

    def fields(self) -> Iterator[Field]:
        """Yield the fields in file order. Raises Unreadable where the bytes are no message."""
        position = self.start
        while position < self.end:
            field = self._field(position)
            position = field.end
            yield field

    def message(self, field: Field) -> Message:
        """Return the message that a field holds."""
        if field.wire != _BYTES:
            raise Unreadable(f"field {field.number} at offset {field.record} holds no message")
        return Message(self.source, field.start, field.end, parent=self)

    def text(self, field: Field) -> str:
        """Return the string that a field holds, clipped."""
        if field.wire != _BYTES:
            raise Unreadable(f"field {field.number} at offset {field.record} holds no string")
        count = min(field.end - field.start, _LONGEST_STRING)
        return clip(self.source.exactly(field.start, count).decode("utf-8", "replace"))

    def numbers(self, field: Field) -> Iterator[int]:
        """Yield the numbers of a repeated integer field, packed or not."""
        if field.wire != _BYTES:
            yield field.value
            return
        position = field.start
        while position < field.end:
            value, position = self._varint(position)
            self._spend()
            yield value

    def _spend(self) -> None:
        self._budget.left -= 1
        if self._budget.left < 0:
            raise Unreadable(f"has more than {MOST_FIELDS} fields")

    def _field(self, record: int) -> Field:
        self._spend()
        head = self.source.peek(record, 2)
        if len(head) == 2 and head[0] < 0x80 and head[1] < 0x80 and head[0] > 7:
            return self._short_field(record, head[0], head[1])
        tag, position = self._varint(record)
        number, wire = tag >> 3, tag & 7
        if not 1 <= number < 1 << 29:
            raise Unreadable(f"field number {number} at offset {record} is not allowed")
        value, start = 0, position
        if wire == _VARINT:
            value, end = self._varint(position)
        elif wire == _FIXED64:
            end = position + 8
        elif wire == _FIXED32:
            end = position + 4
        elif wire == _BYTES:
            count, start = self._varint(position)
            end = start + count
        else:
            raise _unknown_wire(wire, record)
        if end > self.end:
            raise self._cut(number, record, start, end)
        return Field(number, wire, value, start, end, record)

    def _short_field(self, record: int, tag: int, following: int) -> Field:
        """Return the field whose tag and next number have one byte each, as most do."""
        number, wire = tag >> 3, tag & 7
        start = record + 2
        if wire == _BYTES:
            end = start + following
        elif wire == _VARINT:
            start, end = record + 1, record + 2
        elif wire in (_FIXED32, _FIXED64):
            start = record + 1
            end = start + (4 if wire == _FIXED32 else 8)
        else:
            raise _unknown_wire(wire, record)
        if end > self.end:
            raise self._cut(number, record, start, end)
        return Field(number, wire, following if wire == _VARINT else 0, start, end, record)

    def _cut(self, number: int, record: int, start: int, end: int) -> Truncated:
        left = max(self.end - start, 0)
        return Truncated(
            f"field {number} at offset {record} needs {end - start} bytes, {left} are left"
        )

    def _varint(self, position: int) -> tuple[int, int]:
        data = self.source.peek(position, min(10, self.end - position))
        if data and data[0] < 0x80:
            return data[0], position + 1
        value = 0
        for index, byte in enumerate(data):
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value >= 1 << 64:
                    break
                return value, position + index + 1
        if len(data) < 10:
            raise Truncated(f"a number at offset {position} is cut off")
        raise Unreadable(f"a number at offset {position} has more than 64 bits")


def _unknown_wire(wire: int, record: int) -> Unreadable:
    kind = "deprecated group" if wire in (_GROUP, _GROUP_END) else "unknown"
    return Unreadable(f"wire type {wire} ({kind}) at offset {record}")


def signed(value: int) -> int:
    """Return a varint as the signed number that int32 and int64 fields mean."""
    return value - (1 << 64) if value >= 1 << 63 else value
