"""Which processor architecture the interpreter under test is built for.

CPython 3.9, standard library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envcheck.probing.elf import read_elf
from envcheck.records import record

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = [
    "ALIASES",
    "LOADER_FOLDERS",
    "Machine",
    "loaders",
    "machine_of",
    "normalise_architecture",
]

ALIASES = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "x86-64": "x86_64",
    "em64t": "x86_64",
    "i386": "x86",
    "i486": "x86",
    "i586": "x86",
    "i686": "x86",
    "ia32": "x86",
    "win32": "x86",
    "arm64": "aarch64",
    "armv8l": "armv7l",
    "arm": "armv7l",
    "armhf": "armv7l",
    "armv7": "armv7l",
    "armv7hl": "armv7l",
    "powerpc64le": "ppc64le",
    "powerpc64": "ppc64",
}
"""One name for each architecture: `AMD64` of Windows and `x86_64` of Linux are the same."""

_NARROW = {"x86_64": "x86", "aarch64": "armv7l", "ppc64": "ppc", "s390x": "s390"}
"""What a 32-bit program runs as on a 64-bit kernel."""

LOADER_FOLDERS = ("/lib64", "/lib", "/usr/lib64", "/usr/lib", "/lib32", "/libx32")


@record
class Machine:
    """The architecture of an interpreter; None is unknown, with the reason in `problem`."""

    architecture: str | None = None
    bits: int | None = None
    byte_order: str | None = None
    loader: str = ""
    """Path of the dynamic loader, for an image where its program names one."""
    source: str = ""
    problem: str = ""


def normalise_architecture(name: str) -> str:
    """Return the one name of an architecture that has several."""
    name = name.strip().lower()
    return ALIASES.get(name, name)


def machine_of(host: Host) -> Machine:
    """Return the architecture of the interpreter under test, nothing being run."""
    return _running() if host.live else _image(host)


def _running() -> Machine:
    bits = 64 if sys.maxsize > 1 << 32 else 32
    if sys.platform == "win32":
        # As sysconfig does: the interpreter's own build, not that of the system below it.
        build = sys.version.rpartition("(")[2].rstrip("])").lower()
        name = build if build in ("amd64", "arm64", "arm") else "x86"
    else:
        name = os.uname().machine
    architecture = normalise_architecture(name)
    if bits == 32:
        architecture = _NARROW.get(architecture, architecture)
    if not architecture:
        return Machine(None, bits, sys.byteorder, problem="the kernel names no architecture")
    return Machine(architecture, bits, sys.byteorder)


def _image(host: Host) -> Machine:
    for path in (*_programs(host), *loaders(host)):
        elf = read_elf(host, path)
        if elf is not None and elf.architecture is not None:
            return Machine(elf.architecture, elf.bits, elf.byte_order, elf.loader, path)
    kernel = host.read("/proc/sys/kernel/arch", 64)
    if kernel and kernel.strip():
        return Machine(normalise_architecture(kernel), source="/proc/sys/kernel/arch")
    return Machine(problem="no program below the root tells its architecture")


def _programs(host: Host) -> Iterator[str]:
    """Yield where the interpreter's program may lie in an image."""
    home = host.interpreter.home
    if not home:
        return
    lib, _, name = home.rpartition("/")
    own = f"{lib.rpartition('/')[0]}/bin"
    yield from (f"{own}/{program}" for program in (name, "python3", "python"))
    yield from (f"{folder}/{name}" for folder in ("/usr/local/bin", "/usr/bin"))


def loaders(host: Host) -> Iterator[str]:
    """Yield the dynamic loaders below the root."""
    for folder in LOADER_FOLDERS:
        for name in host.listdir(folder) or ():
            if name.startswith(("ld-linux", "ld-musl-", "ld64.so.")) and ".so" in name:
                yield f"{folder}/{name}"
