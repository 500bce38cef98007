"""Tables of a flatbuffer in a file, read at random access and checked at every step."""

from __future__ import annotations

from collections.abc import Iterator

from envcheck.artefacts.reading import Source, Truncated, Unreadable, clip

__all__ = ["Table", "root_table"]

MOST_READS = 300_000
"""Tables and numbers visited in one file; a model of 10,000 layers has about half of that."""
_LONGEST_TEXT = 1 << 16


class _Budget:
    """Reads still allowed in one file."""

    def __init__(self) -> None:
        self.left = MOST_READS


class Table:
    """One table: fields are found by their index in the schema."""

    def __init__(self, source: Source, position: int, budget: _Budget) -> None:
        self._source = source
        self._position = position
        self._budget = budget
        budget.left -= 1
        if budget.left < 0:
            raise Unreadable("has more tables than any model")
        distance = int.from_bytes(source.exactly(position, 4), "little", signed=True)
        self._layout = position - distance
        self._size = source.number(self._layout, 2)

    def number(self, index: int, width: int, default: int = 0, *, signed: bool = False) -> int:
        """Return an integer field of `width` bytes."""
        at = self._at(index)
        if not at:
            return default
        return int.from_bytes(self._source.exactly(at, width), "little", signed=signed)

    def has(self, index: int) -> bool:
        """Return whether the field is present."""
        return self._at(index) != 0

    def text(self, index: int) -> str:
        """Return a string field, '' when it is absent."""
        count, start = self.vector(index)
        data = self._source.exactly(start, min(count, _LONGEST_TEXT) + 1)[:-1] if count else b""
        return clip(data.decode("utf-8", "replace"))

    def vector(self, index: int, width: int = 1) -> tuple[int, int]:
        """Return how many elements of `width` bytes a vector field has, and where they start."""
        at = self._at(index)
        if not at:
            return 0, 0
        at += self._source.number(at, 4)
        count = self._source.number(at, 4)
        if at + 4 + count * width > self._source.size:
            raise Truncated(f"a list of {count} elements at offset {at} reaches past the end")
        return count, at + 4

    def numbers(self, index: int, width: int) -> Iterator[int]:
        """Yield the signed integers of a vector field."""
        count, start = self.vector(index, width)
        self._budget.left -= count
        if self._budget.left < 0:
            raise Unreadable("has more numbers than any model")
        for at in range(start, start + count * width, width):
            yield int.from_bytes(self._source.exactly(at, width), "little", signed=True)

    def table(self, index: int) -> Table | None:
        """Return a table field, or None when it is absent."""
        at = self._at(index)
        return self._follow(at) if at else None

    def tables(self, index: int) -> Iterator[Table]:
        """Yield the tables of a vector field."""
        count, start = self.vector(index, 4)
        for at in range(start, start + 4 * count, 4):
            yield self._follow(at)

    def nth(self, index: int, number: int) -> Table | None:
        """Return one table of a vector field, or None when there is no such element."""
        count, start = self.vector(index, 4)
        return self._follow(start + 4 * number) if 0 <= number < count else None

    def _follow(self, at: int) -> Table:
        return Table(self._source, at + self._source.number(at, 4), self._budget)

    def _at(self, index: int) -> int:
        slot = 4 + 2 * index
        if slot + 2 > self._size:
            return 0
        offset = self._source.number(self._layout + slot, 2)
        return self._position + offset if offset else 0


def root_table(source: Source) -> Table:
    """Return the root table of a flatbuffer file."""
    return Table(source, source.number(0, 4), _Budget())
