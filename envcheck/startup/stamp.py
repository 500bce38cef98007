"""A cheap sign that the installed distributions are those that were looked at before.

Reading the metadata of 500 distributions costs more than everything else of a start. Listing
their folders, with size and time of two files in each, tells whether anything was installed,
upgraded or removed. A stamp that differs proves nothing and only means reading it all again.
CPython 3.9, standard library.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["COVERED", "stamp"]

COVERED = ("packages", "native")
"""Probes that read nothing but what the stamp covers."""
_FILES = ("METADATA", "RECORD")


def stamp(host: Host) -> str:
    """Return the stamp of the distributions on the interpreter's path."""
    digest = hashlib.sha256()
    for folder in host.interpreter.path:
        digest.update(f"{folder}\n".encode("utf-8", "surrogateescape"))
        names = host.listdir(folder)
        digest.update(b"-\n" if names is None else b"+\n")
        for name in names or ():
            if name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth", ".egg")):
                line = f"{name} {_sizes(f'{folder}/{name}')}\n"
                digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _sizes(place: str) -> str:
    """Return size and time of the files that say what a distribution is."""
    out = []
    for path in (place, *(f"{place}/{name}" for name in _FILES)):
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            out.append("-")
            continue
        out.append(f"{found.st_size}:{int(found.st_mtime)}")
    return " ".join(out)
