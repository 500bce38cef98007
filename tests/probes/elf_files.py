"""Small ELF files, made by hand after the System V ABI, for machines we do not have."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["elf", "write_elf"]


def elf(machine: int = 62, *, bits: int = 64, little: bool = True, loader: str = "") -> bytes:
    """Return the headers of an ELF file; with `loader`, a program that names it in PT_INTERP."""
    order = "<" if little else ">"
    ident = b"\x7fELF" + bytes([bits // 32, 1 if little else 2, 1]) + bytes(9)
    header, segment = (64, 56) if bits == 64 else (52, 32)
    name = loader.encode() + b"\0"
    at = header + 2 * segment
    shape = order + ("HHIQQQIHHHHHH" if bits == 64 else "HHIIIIIHHHHHH")
    head = struct.pack(
        shape, 3, machine, 1, 0, header, 0, 0, header, segment, 2 if loader else 0, 0, 0, 0
    )
    if not loader:
        return ident + head
    if bits == 64:
        note = struct.pack(order + "IIQQQQQQ", 6, 4, header, 0, 0, 2 * segment, 0, 8)
        interp = struct.pack(order + "IIQQQQQQ", 3, 4, at, 0, 0, len(name), len(name), 1)
    else:
        note = struct.pack(order + "IIIIIIII", 6, header, 0, 0, 2 * segment, 0, 4, 4)
        interp = struct.pack(order + "IIIIIIII", 3, at, 0, 0, len(name), len(name), 4, 1)
    return ident + head + note + interp + name


def write_elf(path: Path, data: bytes, more: bytes = b"") -> None:
    """Write an ELF file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + more)
