"""The C library of the interpreter's processes, and system libraries that wheels often need."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown
from envcheck.probing.elf import read_elf
from envcheck.probing.loader import find_libraries, standard_folders
from envcheck.probing.machine import Machine, loaders, machine_of

if TYPE_CHECKING:
    from envcheck.probing.host import Host

GLIBC = "glibc"
MUSL = "musl"
LIBRARIES = (
    "libGL.so.1",
    "libcuda.so.1",
    "libcudnn.so.8",
    "libcudnn.so.9",
    "libglib-2.0.so.0",
    "libgomp.so.1",
    "libnvidia-ml.so.1",
    "libsndfile.so.1",
    "libstdc++.so.6",
)
"""Libraries that slim images lack and wheels do not bring."""

_APK = "/lib/apk/db/installed"
_APK_LIMIT = 1 << 24
_LIBC_LIMIT = 1 << 23
_RELEASE = b"stable release version "
_MADE = b"GNU C Library"


def probe(host: Host) -> Facts:
    """Return family and version of the C library, and the system libraries of the list."""
    if host.system != "linux":
        none = not_applicable("only Linux has a choice of C libraries")
        return dict.fromkeys(("os.libc_family", "os.libc_version", "os.system_libraries"), none)
    machine = machine_of(host)
    said = _asked() if host.live else None
    if said is not None:
        family, version = ok(GLIBC, "confstr"), ok(said, "confstr")
    else:
        family = _family(host, machine)
        version = _version(host, machine, family)
    return {
        "os.libc_family": family,
        "os.libc_version": version,
        "os.system_libraries": _libraries(host, machine),
    }


def _asked() -> str | None:
    """Return the version of glibc that this process runs on, None on any other library.

    Not `platform.libc_ver`, which reports what the interpreter was linked against.
    """
    try:
        words = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except (AttributeError, ValueError, OSError):
        return None
    return words[1] if len(words) == 2 and words[0] == GLIBC else None


def _family(host: Host, machine: Machine) -> Fact:
    """Return the family by the loader that the interpreter names, else by the loaders present."""
    name = machine.loader
    if host.live:
        program = read_elf(host, sys.executable) if sys.executable else None
        name = program.loader if program is not None else ""
    family = _family_of(name)
    if family is not None:
        return ok(family, name)
    present: set[str] = {found for found in map(_family_of, loaders(host)) if found is not None}
    if len(present) == 1 and not name:
        return ok(present.pop(), "the only loader there is")
    if present:
        return unknown(f"loaders of {' and '.join(sorted(present))} are there")
    return unknown("no dynamic loader is where one should be")


def _family_of(loader: str) -> str | None:
    name = loader.rpartition("/")[2]
    if name.startswith("ld-musl-"):
        return MUSL
    return GLIBC if name.startswith(("ld-linux", "ld64.so.")) else None


def _version(host: Host, machine: Machine, family: Fact) -> Fact:
    if not family.is_ok:
        return unknown("the C library is not known")
    found = _glibc_version(host, machine) if family.value == GLIBC else _musl_version(host)
    if found is None:
        return unknown(f"no file tells the version of {family.value}")
    return found


def _glibc_version(host: Host, machine: Machine) -> Fact | None:
    """Return the version of libc.so.6: from the name of its file, else from the text in it."""
    for folder in standard_folders(machine.architecture):
        path = f"{folder}/libc.so.6"
        if not host.exists(path):
            continue
        elf = read_elf(host, path)
        if elf is None or (machine.architecture and elf.architecture != machine.architecture):
            continue
        version = _named_version(os.path.basename(host.path(path)))
        if version is None:
            version = _written_version(host.read_bytes(path, _LIBC_LIMIT) or b"")
        if version is not None:
            return ok(version, path)
    return None


def _named_version(name: str) -> str | None:
    """Return the version in `libc-2.31.so`, the name of the file up to glibc 2.33."""
    if not (name.startswith("libc-") and name.endswith(".so")):
        return None
    return _digits(name[len("libc-") : -len(".so")])


def _written_version(data: bytes) -> str | None:
    """Return the version in `GNU C Library (…) stable release version 2.36.`."""
    start = data.find(_MADE)
    at = data.find(_RELEASE, start, start + 512) if start >= 0 else -1
    if at < 0:
        return None
    words = data[at + len(_RELEASE) :][:32].decode("ascii", "replace").split()
    return _digits(words[0].rstrip(".,")) if words else None


def _digits(text: str) -> str | None:
    parts = text.split(".")
    return text if len(parts) > 1 and all(part.isdigit() for part in parts) else None


def _musl_version(host: Host) -> Fact | None:
    """Return the version that Alpine's package database gives, or the one in the loader."""
    inside = False
    for line in (host.read(_APK, _APK_LIMIT) or "").split("\n"):
        if line.startswith("P:"):
            inside = line == "P:musl"
        elif inside and line.startswith("V:"):
            version = _digits(line[2:].partition("-")[0])
            return ok(version, _APK) if version else None
    for path in loaders(host):
        if _family_of(path) == MUSL:
            versions = set(_texts_like_a_version(host.read_bytes(path, _LIBC_LIMIT) or b""))
            return ok(versions.pop(), path) if len(versions) == 1 else None
    return None


def _texts_like_a_version(data: bytes) -> Iterator[str]:
    """Yield the texts `1.N.N` between zero bytes; musl's own `__libc_version` is one."""
    at = data.find(b"\x001.")
    while at >= 0:
        text = data[at + 1 : data.find(b"\0", at + 1)][:16].decode("ascii", "replace")
        if text.count(".") == 2 and _digits(text):
            yield text
        at = data.find(b"\x001.", at + 1)


def _libraries(host: Host, machine: Machine) -> Fact:
    folders: list[str] = [
        folder for folder in standard_folders(machine.architecture) if host.is_dir(folder)
    ]
    if not folders:
        return unknown("none of the loader's standard folders can be listed")
    return ok(sorted(find_libraries(host, LIBRARIES, machine)))
