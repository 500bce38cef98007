"""`.keras` archives: one more entry, which Keras leaves alone.

All other entries are copied as they are stored, so no weight is packed anew and the content
digest stays the same. CPython 3.9, standard library.
"""

from __future__ import annotations

import struct
import zipfile
from typing import BinaryIO

from envcheck.artefacts.archives import Archive
from envcheck.artefacts.keras_archive import EMBEDDED
from envcheck.artefacts.reading import Source, Unreadable, open_regular
from envcheck.embedding.replacing import replacing
from envcheck.fingerprint.files import SIZE_LIMIT

__all__ = ["ENTRY", "read", "write"]

ENTRY = f"{EMBEDDED}fingerprint.json"
_LOCAL_HEADER = 30
_READABLE = 0o644 << 16


def read(path: str) -> bytes | None:
    """Return what the model carries. Raises Unreadable."""
    with open_regular(path) as source:
        archive = Archive(source)
        return archive.read(ENTRY, SIZE_LIMIT) if ENTRY in archive.names else None


def write(path: str, data: bytes) -> None:
    """Put `data` in, in place of what the model carries. Raises Unreadable and OSError."""
    with open_regular(path) as source:
        Archive(source)  # refuses what is broken or hostile
        with zipfile.ZipFile(path) as old, replacing(path) as stream:
            kept = _copy(source, old, stream)
            with zipfile.ZipFile(stream, "w") as new:
                new.filelist.extend(kept)
                new.NameToInfo.update({entry.filename: entry for entry in kept})
                new.writestr(_entry(), data)


def _copy(source: Source, old: zipfile.ZipFile, stream: BinaryIO) -> list[zipfile.ZipInfo]:
    """Copy all entries but ours, headers and all; return them with their new offsets."""
    kept = [entry for entry in old.infolist() if entry.filename != ENTRY]
    starts = sorted(entry.header_offset for entry in old.infolist())
    ends = dict(zip(starts, [*starts[1:], old.start_dir]))
    for entry in kept:
        start, end = entry.header_offset, ends[entry.header_offset]
        end = _end(source, entry, start, end)
        entry.header_offset = stream.tell()
        stream.writelines(source.chunks(start, end))
    return kept


def _end(source: Source, entry: zipfile.ZipInfo, start: int, most: int) -> int:
    """Return where an entry ends: after its data, or its data descriptor where it has one."""
    names: tuple[int, int] = struct.unpack("<HH", source.exactly(start + 26, 4))
    end: int = start + _LOCAL_HEADER + sum(names) + entry.compress_size
    if end > most:
        raise Unreadable("is a broken zip archive: an entry reaches into the next one")
    described = bool(entry.flag_bits & 0x08)
    return min(most, end + 24) if described else end


def _entry() -> zipfile.ZipInfo:
    """Return the head of our entry, without a clock in it: the same input gives the same file."""
    entry = zipfile.ZipInfo(ENTRY, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = _READABLE
    return entry
