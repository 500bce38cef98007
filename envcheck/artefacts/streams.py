"""Bytes one after the other, from a file or out of a decompressor, with nothing held back."""

from __future__ import annotations

from typing import Callable

from envcheck.artefacts.reading import CHUNK, Source, Truncated, Unreadable, Unsure

__all__ = ["Stream", "TooLong", "compression", "decompressed", "plain"]

_PIECE = 1 << 16
_BOMB_RATIO = 250
_BOMB_BYTES = 64 << 20
_LZMA_MEMORY = 160 << 20
MOST_BYTES = 1 << 30
"""Decompressed bytes that are looked at in one file."""

_MAGIC = (
    (b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\0", "xz"), (b"]\0\0", "lzma"),
    (b"\x04\x22\x4d\x18", "lz4"),
)  # fmt: skip


class TooLong(Exception):
    """There is more to read than is ever looked at; what was found so far stands."""


class Stream:
    """Sequential reading; `pull` gives up to that many further bytes, b'' at the end."""

    def __init__(
        self, pull: Callable[[int], bytes], seek: Callable[[int], bool] | None = None
    ) -> None:
        self._pull = pull
        self._seek = seek
        self._data = b""
        self._at = 0
        self._base = 0

    @property
    def position(self) -> int:
        """How many bytes have been taken."""
        return self._base + self._at

    def byte(self) -> int:
        """Return the next byte."""
        if self._at >= len(self._data) and not self._fill():
            raise Truncated(f"is cut off after {self.position} bytes")
        value = self._data[self._at]
        self._at += 1
        return value

    def peek(self) -> int:
        """Return the next byte without taking it, or -1 at the end."""
        if self._at >= len(self._data) and not self._fill():
            return -1
        return self._data[self._at]

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes (at most 64 KiB at once)."""
        data = self._data[self._at : self._at + count]
        self._at += len(data)
        while len(data) < count:
            if not self._fill():
                raise Truncated(f"is cut off after {self.position} bytes")
            more = self._data[: count - len(data)]
            self._at = len(more)
            data += more
        return data

    def number(self, width: int) -> int:
        """Return the next unsigned little-endian number."""
        return int.from_bytes(self.take(width), "little")

    def skip(self, count: int) -> None:
        """Pass over `count` bytes, which may be any number."""
        here = min(count, len(self._data) - self._at)
        self._at += here
        count -= here
        if count and self._seek is not None:
            if not self._seek(count):
                raise Truncated(
                    f"is cut off: {count} bytes wanted after {self.position}, which are not there"
                )
            self._base += self._at + count
            self._data, self._at = b"", 0
            return
        while count:
            if not self._fill():
                raise Truncated(f"is cut off after {self.position} bytes")
            self._at = min(count, len(self._data))
            count -= self._at

    def line(self, limit: int) -> bytes | None:
        """Return the bytes up to the next newline; None, passed over, where they exceed `limit`."""
        parts, length = [], 0
        while True:
            if self._at >= len(self._data) and not self._fill():
                raise Truncated(f"is cut off after {self.position} bytes")
            end = self._data.find(b"\n", self._at)
            stop = len(self._data) if end < 0 else end
            length += stop - self._at
            if length <= limit:
                parts.append(self._data[self._at : stop])
            self._at = stop
            if end >= 0:
                self._at += 1
                return b"".join(parts) if length <= limit else None

    def drain(self) -> None:
        """Pass over all that is left, so that a decompressor checks it to the end."""
        while self._fill():
            self._at = len(self._data)

    def _fill(self) -> bool:
        self._base += len(self._data)
        self._data = self._pull(_PIECE)
        self._at = 0
        return bool(self._data)


def plain(source: Source) -> Stream:
    """Return the stream of a file."""
    position = 0

    def pull(count: int) -> bytes:
        nonlocal position
        data = source.peek(position, count)
        position += len(data)
        return data

    def seek(count: int) -> bool:
        nonlocal position
        position += count
        return position <= source.size

    return Stream(pull, seek)


def compression(source: Source) -> str:
    """Return the name of the compression that the first bytes announce, '' for none."""
    head = source.peek(0, 8)
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    is_zlib = len(head) > 2 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0
    return "zlib" if is_zlib else ""


def decompressed(source: Source, name: str) -> Stream:
    """Return the stream of a compressed file. Raises Unsure where Python cannot decompress it."""
    return Stream(_Decompressor(source, _opener(name), _magic(name)).pull)


def _magic(name: str) -> bytes:
    return next((magic for magic, known in _MAGIC if known == name), b"\x78")


def _opener(name: str) -> Callable[[], object]:
    """Return what makes a decompressor of that name."""
    try:
        if name in ("zlib", "gzip"):
            import zlib

            return lambda: zlib.decompressobj(15 if name == "zlib" else 31)
        if name == "bz2":
            import bz2

            return bz2.BZ2Decompressor
        if name in ("xz", "lzma"):
            import lzma

            return lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)
    except ImportError:
        pass
    raise Unsure(f"is compressed with {name}, which this Python cannot read")


class _Decompressor:
    """Gives decompressed bytes piece by piece, and stops at bombs."""

    def __init__(self, source: Source, opener: Callable[[], object], magic: bytes) -> None:
        self._source = source
        self._opener = opener
        self._magic = magic
        self._engine: object = opener()
        self._position = 0
        self._pending = b""
        self._given = 0

    def pull(self, count: int) -> bytes:
        """Return up to `count` further bytes."""
        while True:
            data = self._step(count)
            if data is None:
                return b""
            if data:
                self._given += len(data)
                self._check()
                return data

    def _check(self) -> None:
        if self._given > max(_BOMB_BYTES, self._position * _BOMB_RATIO):
            raise Unreadable(
                f"is a decompression bomb: {self._position} bytes unpack to more than {self._given}"
            )
        if self._given > MOST_BYTES:
            raise TooLong(f"only the first {MOST_BYTES} decompressed bytes were looked at")

    def _step(self, count: int) -> bytes | None:
        """Return some bytes, b'' when more input is needed, None at the end."""
        engine: object = self._engine
        if getattr(engine, "eof", False):
            rest = getattr(engine, "unused_data", b"") or self._next()
            if not rest.startswith(self._magic[:2]):
                return None
            self._engine, self._pending = self._opener(), rest
            return b""
        needs_input = getattr(engine, "needs_input", not self._pending)
        if needs_input and not self._pending:
            self._pending = self._next()
        return self._feed(engine, count)

    def _feed(self, engine: object, count: int) -> bytes:
        had = bool(self._pending)
        try:
            data: bytes = engine.decompress(self._pending, count)  # type: ignore[attr-defined]
        except Exception as problem:
            if isinstance(problem, MemoryError):
                raise Unreadable("needs more memory to decompress than any model") from problem
            raise Unreadable("is broken: its compressed data cannot be decompressed") from problem
        self._pending = getattr(engine, "unconsumed_tail", b"")
        if not data and not had and not getattr(engine, "eof", False):
            raise Truncated("is cut off: its compressed data has no end")
        return data

    def _next(self) -> bytes:
        data = self._source.peek(self._position, min(CHUNK, _PIECE))
        self._position += len(data)
        return data
