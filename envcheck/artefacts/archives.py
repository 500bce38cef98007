"""Zip archives that may be hostile: a bounded directory, bounded members, nothing extracted."""

from __future__ import annotations

import hashlib
import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Callable

from envcheck.artefacts.files import leaves_folder
from envcheck.artefacts.reading import CHUNK, Source, Truncated, Unreadable, clip

__all__ = ["Archive"]

_MOST_ENTRIES = 65_000
_LARGEST_DIRECTORY = 32 << 20
_BOMB_RATIO = 250
_BOMB_BYTES = 64 << 20
_END = b"PK\x05\x06"
_END64 = b"PK\x06\x06"
_LOCATOR64 = b"PK\x06\x07"
_BROKEN = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError,
    OverflowError, struct.error, zlib.error,
)  # fmt: skip
"""What `zipfile` and its decompressors raise on bytes that are no proper archive."""


class Archive:
    """A zip archive whose directory was checked before it was read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        _check_directory(source)
        try:
            self._zip = zipfile.ZipFile(_Stream(source))
            entries = self._zip.infolist()
        except _BROKEN as problem:
            raise Unreadable(f"is a broken zip archive: {clip(str(problem))}") from problem
        self._entries = {entry.filename: entry for entry in entries}
        self.unsafe_names = sorted({clip(entry.filename) for entry in entries if _is_unsafe(entry)})
        if len(self._entries) != len(entries):
            raise Unreadable("holds two entries of one name: readers may disagree on which counts")
        for entry in entries:
            _check_entry(entry)
        if sum(entry.compress_size for entry in entries) > source.size:
            raise Unreadable("its entries overlap: together they are larger than the archive")

    @property
    def names(self) -> list[str]:
        """The names of all entries, sorted."""
        return sorted(self._entries)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of an entry. Raises Unreadable where it is larger than `limit`."""
        if self._entries[name].file_size > limit:
            raise Unreadable(f"its {clip(name)} is larger than {limit} bytes")
        try:
            with self._zip.open(name) as member:
                data = member.read(limit + 1)
        except _BROKEN as problem:
            raise Unreadable(f"its {clip(name)} is broken: {clip(str(problem))}") from problem
        if len(data) > limit:
            raise Unreadable(f"its {clip(name)} is larger than {limit} bytes")
        return data

    def reader(self, name: str) -> Callable[[int], bytes]:
        """Return a function that gives the next bytes of an entry, b'' at its end."""
        try:
            member = self._zip.open(name)
        except _BROKEN as problem:
            raise Unreadable(f"its {clip(name)} is broken: {clip(str(problem))}") from problem

        def read(count: int) -> bytes:
            try:
                return member.read(count)
            except _BROKEN as problem:
                raise Unreadable(f"its {clip(name)} is broken: {clip(str(problem))}") from problem

        return read

    def content_digest(self, is_left_out: Callable[[str], bool]) -> str:
        """Return a SHA-256 over names and stored bytes of the entries that are not left out."""
        whole = hashlib.sha256()
        for name in self.names:
            if not is_left_out(name):
                entry = self._entries[name]
                head = f"{name}\0{entry.compress_type}\0{entry.CRC}\0"
                whole.update(head.encode("utf-8", "surrogatepass"))
                for data in self._stored(entry):
                    whole.update(data)
        return whole.hexdigest()

    def _stored(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the bytes of an entry as they are stored."""
        head = self._source.exactly(entry.header_offset, 30)
        if head[:4] != b"PK\x03\x04":
            raise Unreadable(f"its {clip(entry.filename)} has no header where it should be")
        start = entry.header_offset + 30 + sum(struct.unpack_from("<HH", head, 26))
        if start + entry.compress_size > self._source.size:
            raise Truncated(f"its {clip(entry.filename)} is cut off")
        yield from self._source.chunks(start, start + entry.compress_size)


def _check_directory(source: Source) -> None:
    """Raise unless the directory is there, and small enough for `zipfile` to hold in memory."""
    tail_start = max(0, source.size - (1 << 16) - 22)
    tail = source.exactly(tail_start, source.size - tail_start)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise Truncated("is a zip archive that is cut off: it has no directory at its end")
    count, size, offset = struct.unpack_from("<HII", tail, at + 10)
    position = tail_start + at
    if source.peek(position - 20, 4) == _LOCATOR64 and position >= 76:
        record = source.exactly(position - 76, 56)
        if record[:4] == _END64:
            count, size, offset = struct.unpack_from("<QQQ", record, 32)
    if count > _MOST_ENTRIES or size > _LARGEST_DIRECTORY:
        raise Unreadable(f"is an archive with {count} entries in a directory of {size} bytes")
    if size + offset > source.size:
        raise Unreadable("is a broken zip archive: its directory lies outside the file")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    """Raise where an entry unpacks to far more than any model does, or in a way none does."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable(f"its {clip(entry.filename)} uses compression {entry.compress_type}")
    if entry.file_size > max(_BOMB_BYTES, entry.compress_size * _BOMB_RATIO):
        raise Unreadable(
            f"is a decompression bomb: {clip(entry.filename)} unpacks from "
            f"{entry.compress_size} to {entry.file_size} bytes"
        )


def _is_unsafe(entry: zipfile.ZipInfo) -> bool:
    """Return whether extracting this entry could write outside the target folder."""
    link = stat.S_ISLNK(entry.external_attr >> 16)
    return link or leaves_folder(entry.orig_filename) or leaves_folder(entry.filename)


class _Stream(io.RawIOBase):
    """A source as the file object that `zipfile` wants."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        start = (0, self._position, self._source.size)[whence]
        if start + offset < 0:
            raise ValueError("negative seek position")
        self._position = start + offset
        return self._position

    def read(self, count: int = -1) -> bytes:
        left = max(self._source.size - self._position, 0)
        wanted = left if count < 0 else min(count, left)
        if wanted > _LARGEST_DIRECTORY + CHUNK:
            raise ValueError("more than is ever read at once")
        data = self._source.peek(self._position, wanted)
        self._position += len(data)
        return data
