"""Shared libraries that the dynamic loader of Linux would find, without running anything.

The search order is that of ld.so(8), and of musl's dynlink.c. CPython 3.9, standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envcheck.probing.elf import read_elf

if TYPE_CHECKING:
    from envcheck.probing.host import Host
    from envcheck.probing.machine import Machine

__all__ = ["TRIPLETS", "find_libraries", "standard_folders"]

CACHE = "/etc/ld.so.cache"
TRIPLETS = {
    "x86_64": "x86_64-linux-gnu",
    "x86": "i386-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
}
"""Folder names of Debian's multiarch layout."""

_CACHE_LIMIT = 1 << 23


def standard_folders(architecture: str | None) -> list[str]:
    """Return the folders that a loader searches by itself, in order."""
    triplet = TRIPLETS.get(architecture or "")
    folders = [f"/lib/{triplet}", f"/usr/lib/{triplet}"] if triplet else []
    return [*folders, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"]


def find_libraries(host: Host, names: Sequence[str], machine: Machine) -> dict[str, str]:
    """Return the path of each library that the loader finds for this machine's programs."""
    first = [
        folder
        for folder in host.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
        if folder.startswith("/")
    ]
    cache = host.read_bytes(CACHE, _CACHE_LIMIT) or b""
    standard = [folder for folder in standard_folders(machine.architecture) if host.is_dir(folder)]
    found: dict[str, str] = {}
    for name in names:
        places = [f"{folder}/{name}" for folder in first]
        places += _cached(cache, name)
        places += [f"{folder}/{name}" for folder in standard]
        for place in dict.fromkeys(places):
            if host.exists(place) and _fits(host, place, machine):
                found[name] = place
                break
    return found


def _cached(cache: bytes, name: str) -> list[str]:
    """Return the paths of a library in ld.so.cache, whose strings end in a zero byte each.

    The cache is one table of records and then all strings; reading the strings alone serves
    every version of the format.
    """
    out: list[str] = []
    tail = b"/" + name.encode("ascii") + b"\0"
    at = cache.find(tail)
    while at >= 0:
        start = cache.rfind(b"\0", 0, at) + 1
        path = cache[start : at + len(tail) - 1]
        if path.startswith(b"/"):
            out.append(path.decode("utf-8", "replace"))
        at = cache.find(tail, at + 1)
    return out


def _fits(host: Host, path: str, machine: Machine) -> bool:
    """Return whether a library is for this architecture, as the loader asks too."""
    elf = read_elf(host, path)
    if elf is None:
        return False
    if machine.architecture is None or elf.architecture is None:
        return True
    return elf.architecture == machine.architecture
