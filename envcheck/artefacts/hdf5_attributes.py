"""Superblock, object header and attributes of an HDF5 file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envcheck.artefacts.reading import Source, Unreadable, clip

__all__ = ["Attributes", "Superblock"]

_MOST_MESSAGES = 20_000
_MOST_BLOCKS = 1_000
_ATTRIBUTE, _ATTRIBUTE_INFO, _CONTINUATION = 0x0C, 0x15, 0x10
_STRING, _VARIABLE_LENGTH = 3, 9


class Superblock:
    """The head of the file: sizes of numbers, and where the root group is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        version = source.number(8, 1)
        if version > 3:
            raise Unreadable(f"is an HDF5 file with superblock version {version}")
        at = 13 if version < 2 else 9
        self.offset_size = source.number(at, 1)
        self.length_size = source.number(at + 1, 1)
        if self.offset_size not in (2, 4, 8) or self.length_size not in (2, 4, 8):
            raise Unreadable("is a broken HDF5 file: sizes of numbers that do not exist")
        at = {0: 24, 1: 28}.get(version, 12)
        size = self.offset_size
        self.base = source.number(at, size)
        self.end_of_file = source.number(at + 2 * size, size)
        root = at + 5 * size if version < 2 else at + 3 * size
        self.root = self.base + source.number(root, size)

    def address(self, at: int) -> int:
        """Return the address stored at an offset."""
        return self.base + self.source.number(at, self.offset_size)

    def length(self, at: int) -> int:
        """Return the length stored at an offset."""
        return self.source.number(at, self.length_size)

    def is_undefined(self, at: int) -> bool:
        """Return whether the address stored at an offset means 'nothing'."""
        return self.source.exactly(at, self.offset_size) == b"\xff" * self.offset_size


@dataclass(frozen=True)
class _Message:
    kind: int
    flags: int
    start: int
    end: int


@dataclass(frozen=True)
class _Value:
    """Where the value of an attribute lies: of fixed length, or in the global heap."""

    kind: int
    size: int
    start: int
    end: int


class Attributes:
    """The attributes of the root group that hold one string each, by name."""

    def __init__(self, block: Superblock) -> None:
        self._block = block
        self._source = block.source
        self.places: dict[str, _Value | None] = {}
        """Every attribute; None where the value is no single string."""
        self.unread = ""
        """Why the list of attributes is not complete, else empty."""
        for message in _messages(block):
            if message.kind == _ATTRIBUTE:
                self._read(message)
            elif message.kind == _ATTRIBUTE_INFO and self._is_dense(message):
                self.unread = "the attributes are kept in dense storage"

    def text(self, name: str, limit: int) -> bytes | None:
        """Return the string value of an attribute, or None if it has none."""
        place = self.places.get(name)
        if place is None:
            return None
        if place.kind == _STRING:
            if place.size > limit:
                raise Unreadable(f"its attribute {name} is larger than {limit} bytes")
            return self._source.exactly(place.start, place.size).split(b"\0", 1)[0]
        return self._from_heap(name, place.start, limit)

    def _is_dense(self, message: _Message) -> bool:
        flags = self._source.number(message.start + 1, 1)
        return not self._block.is_undefined(message.start + 2 + 2 * (flags & 1))

    def _read(self, message: _Message) -> None:
        """Take one attribute message in."""
        source, start = self._source, message.start
        version, flags = source.number(start, 1), source.number(start + 1, 1)
        if version not in (1, 2, 3) or message.flags & 2 or (version > 1 and flags & 3):
            self.unread = "an attribute is stored in a shared or unknown form"
            return
        sizes = [source.number(start + 2 + 2 * index, 2) for index in range(3)]
        step = 8 if version == 1 else 1
        at = start + 8 + (version == 3)
        name = source.exactly(at, sizes[0]).split(b"\0", 1)[0].decode("utf-8", "replace")
        kind_at = at + _padded(sizes[0], step)
        space_at = kind_at + _padded(sizes[1], step)
        data_at = space_at + _padded(sizes[2], step)
        if data_at > message.end:
            raise Unreadable(f"is a broken HDF5 file: attribute {clip(name)} is too long")
        self.places[name] = self._value(kind_at, space_at, data_at, message.end)

    def _value(self, kind_at: int, space_at: int, start: int, end: int) -> _Value | None:
        source = self._source
        kind = source.number(kind_at, 1) & 0x0F
        size = source.number(kind_at + 4, 4)
        rank = source.number(space_at + 1, 1)
        is_text = kind == _STRING or (
            kind == _VARIABLE_LENGTH and source.number(kind_at + 1, 1) & 0x0F == 1
        )
        fits = kind == _VARIABLE_LENGTH or start + size <= end
        return _Value(kind, size, start, end) if is_text and rank == 0 and fits else None

    def _from_heap(self, name: str, at: int, limit: int) -> bytes:
        """Return a string of variable length, which lies in a global heap collection."""
        block, source = self._block, self._source
        length = source.number(at, 4)
        heap = block.address(at + 4)
        wanted = source.number(at + 4 + block.offset_size, 4)
        if length > limit:
            raise Unreadable(f"its attribute {name} is larger than {limit} bytes")
        if source.exactly(heap, 4) != b"GCOL":
            raise Unreadable("is a broken HDF5 file: no global heap where there should be one")
        end = heap + block.length(heap + 8)
        position = heap + 8 + block.length_size
        for _ in range(_MOST_MESSAGES):
            index = source.number(position, 2)
            size = block.length(position + 8)
            position += 8 + block.length_size
            if index == wanted:
                return source.exactly(position, min(length, size)).rstrip(b"\0")
            if index == 0 or position >= end:
                break
            position += _padded(size, 8)
        raise Unreadable("is a broken HDF5 file: the global heap lacks an object")


def _messages(block: Superblock) -> Iterator[_Message]:
    """Yield the messages of the root group's object header, continuations included."""
    source, root = block.source, block.root
    if source.exactly(root, 4) == b"OHDR":
        version, head, todo = 2, *_second_header(source, root)
    else:
        if source.number(root, 1) != 1:
            raise Unreadable("is a broken HDF5 file: no object header where the root group is")
        version, head = 1, 8
        todo = [(root + 16, root + 16 + source.number(root + 8, 4))]
    left, blocks = _MOST_MESSAGES, 0
    while todo:
        position, end = todo.pop()
        blocks += 1
        while position + head <= end and left > 0:
            left -= 1
            message = _message(source, position, head, version)
            if message.end > end:
                raise Unreadable("is a broken HDF5 file: a message is longer than its header")
            if message.kind == _CONTINUATION:
                if blocks >= _MOST_BLOCKS:
                    raise Unreadable("is a broken HDF5 file: its object header has no end")
                todo.append(_continuation(block, message, version))
            yield message
            position = message.end
    if left <= 0:
        raise Unreadable(f"has more than {_MOST_MESSAGES} messages in one object header")


def _message(source: Source, position: int, head: int, version: int) -> _Message:
    width = 2 if version == 1 else 1
    kind = source.number(position, width)
    size = source.number(position + width, 2)
    flags = source.number(position + width + 2, 1)
    start = position + head
    return _Message(kind, flags, start, start + size)


def _second_header(source: Source, root: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the size of a message's head and the first block, of a version 2 header."""
    flags = source.number(root + 5, 1)
    at = root + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    start = at + width
    return 6 if flags & 4 else 4, [(start, start + source.number(at, width))]


def _continuation(block: Superblock, message: _Message, version: int) -> tuple[int, int]:
    start = block.address(message.start)
    end = start + block.length(message.start + block.offset_size)
    if version == 1:
        return start, end
    if block.source.exactly(start, 4) != b"OCHK":
        raise Unreadable("is a broken HDF5 file: no continuation where there should be one")
    return start + 4, end - 4


def _padded(size: int, step: int) -> int:
    return (size + step - 1) // step * step
