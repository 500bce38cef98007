"""The little of an ELF file that tells which machine and which loader it is for.

Layout: System V ABI, "ELF Header" and "Program Header". Reads are bounded and nothing is run.
CPython 3.9, standard library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.records import record

if TYPE_CHECKING:
    from io import FileIO

    from envcheck.probing.host import Host

__all__ = ["MACHINES", "Elf", "read_elf"]

MACHINES = {
    3: "x86",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
"""Architecture by `e_machine` (64-bit little-endian PowerPC is told apart by byte order)."""

_PT_INTERP = 3
_MOST_SEGMENTS = 64
_LONGEST_NAME = 4096


@record
class Elf:
    """What the headers of one ELF file say."""

    architecture: str | None
    bits: int
    byte_order: str
    loader: str
    """The path in PT_INTERP; empty for a library and for a static program."""


def read_elf(host: Host, path: str) -> Elf | None:
    """Return what the headers of a file say, or None if it is no readable ELF file."""
    try:
        with host.open_binary(path) as file:
            return _parse(file)
    except (OSError, ValueError):
        return None


def _parse(file: FileIO) -> Elf | None:
    head = file.read(64)
    if len(head) < 52 or head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        return None
    bits = 32 * head[4]
    order = "little" if head[5] == 1 else "big"
    machine = _number(head[18:20], order)
    architecture = MACHINES.get(machine)
    if architecture == "ppc64" and order == "little":
        architecture = "ppc64le"
    return Elf(architecture, bits, order, _loader(file, head, bits, order))


def _loader(file: FileIO, head: bytes, bits: int, order: str) -> str:
    """Return the path in the PT_INTERP segment, or nothing."""
    if bits == 64:
        table, size, count = head[32:40], head[54:56], head[56:58]
    else:
        table, size, count = head[28:32], head[42:44], head[44:46]
    width = _number(size, order)
    if not width:
        return ""
    file.seek(_number(table, order))
    segments = file.read(width * min(_number(count, order), _MOST_SEGMENTS)) or b""
    for start in range(0, len(segments) - width + 1, width):
        segment = segments[start : start + width]
        if _number(segment[:4], order) == _PT_INTERP:
            offset, length = _extent(segment, bits, order)
            file.seek(offset)
            name = file.read(min(length, _LONGEST_NAME)) or b""
            return name.split(b"\0", 1)[0].decode("utf-8", "replace")
    return ""


def _extent(segment: bytes, bits: int, order: str) -> tuple[int, int]:
    """Return where in the file a segment begins, and its length."""
    if bits == 64:
        return _number(segment[8:16], order), _number(segment[32:40], order)
    return _number(segment[4:8], order), _number(segment[16:20], order)


def _number(data: bytes, order: str) -> int:
    return int.from_bytes(data, "little" if order == "little" else "big")
