"""Bounded random access to one file, and the one error that the readers raise."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

__all__ = [
    "CHUNK",
    "Source",
    "Truncated",
    "Unreadable",
    "Unsure",
    "clip",
    "digest_ranges",
    "open_regular",
]

CHUNK = 1 << 20
"""Bytes read at a time where a whole file is read."""
_WINDOW = 1 << 13
_LONGEST_TEXT = 512


class Unreadable(Exception):
    """The artefact cannot be what it says it is, or is not safe to read; the text says why."""


class Truncated(Unreadable):
    """The file ends before what it announces."""


class Unsure(Exception):
    """Nothing is wrong with the artefact as far as is known, but it may not be read."""


class Source:
    """A regular file, read at any offset through one small window.

    `size` is fixed when the file is opened; what is appended later is not seen.
    """

    def __init__(self, handle: int, size: int) -> None:
        self._handle = handle
        self.size = size
        self._base = 0
        self._window = b""

    def __enter__(self) -> Source:  # noqa: PYI034 (Self needs 3.11)
        """Return the source itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        os.close(self._handle)

    def peek(self, offset: int, count: int) -> bytes:
        """Return up to `count` bytes at `offset`; fewer where the file ends."""
        if offset < 0 or offset >= self.size or count <= 0:
            return b""
        start = offset - self._base
        if start < 0 or start + count > len(self._window):
            self._window = self._read(offset, max(count, _WINDOW))
            self._base, start = offset, 0
        return self._window[start : start + count]

    def exactly(self, offset: int, count: int) -> bytes:
        """Return `count` bytes at `offset`. Raises Truncated where the file ends before."""
        if count > CHUNK * 64:
            raise Unreadable(f"{count} bytes at offset {offset} are more than is ever read at once")
        data = self.peek(offset, count)
        if len(data) != count:
            raise Truncated(
                f"the file is truncated: {count} bytes at offset {offset}, {len(data)} there"
            )
        return data

    def number(self, offset: int, count: int) -> int:
        """Return the unsigned little-endian number of `count` bytes at `offset`."""
        return int.from_bytes(self.exactly(offset, count), "little")

    def chunks(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end` piece by piece, past the window."""
        while start < end:
            data = self._read(start, min(CHUNK, end - start))
            if not data:
                raise Truncated("the file became shorter while it was read")
            start += len(data)
            yield data

    def _read(self, offset: int, count: int) -> bytes:
        """Return up to `count` bytes; memory follows what the file has, never what it claims."""
        wanted = min(count, self.size - offset)
        parts = []
        while wanted > 0:
            data = self._read_once(offset, min(wanted, CHUNK))
            if not data:
                break
            parts.append(data)
            offset += len(data)
            wanted -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_once(self, offset: int, count: int) -> bytes:
        try:
            if hasattr(os, "pread"):
                return os.pread(self._handle, count, offset)
            os.lseek(self._handle, offset, os.SEEK_SET)
            return os.read(self._handle, count)
        except (OSError, OverflowError) as problem:
            raise Unreadable(f"the file cannot be read at offset {offset}") from problem


def open_regular(path: str) -> Source:
    """Open a regular file for reading.

    What is no regular file is never opened: reading a FIFO waits, opening a device acts.
    """
    import stat

    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Unreadable("is not a regular file")
    handle = os.open(path, flags)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise Unreadable("is not a regular file")
    return Source(handle, found.st_size)


def digest_ranges(source: Source, skipped: list[tuple[int, int]]) -> tuple[str, str]:
    """Return the SHA-256 of the file, and that of the file without the skipped byte ranges.

    The ranges are in order and do not overlap. The file is read once.
    """
    whole, rest = hashlib.sha256(), hashlib.sha256()
    position = 0
    for start, end in [*skipped, (source.size, source.size)]:
        for data in source.chunks(position, start):
            whole.update(data)
            if skipped:
                rest.update(data)
        for data in source.chunks(start, end):
            whole.update(data)
        position = end
    return whole.hexdigest(), (rest if skipped else whole).hexdigest()


def clip(text: str) -> str:
    """Return a text of an artefact in a length and form fit for a fact."""
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
