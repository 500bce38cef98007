"""Zip files on the import path, seen as folders. CPython 3.9, standard library."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["Archive"]

_ENDINGS = (".dist-info", ".egg-info")
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MOST_NAMES = 100_000


class Archive:
    """What a reader of metadata needs of a host, inside one zip file."""

    def __init__(self, path: str, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self._names = frozenset(file.namelist()[:_MOST_NAMES])

    @classmethod
    def open(cls, host: Host, path: str) -> Archive | None:
        """Return the zip file at `path`, or None where there is none that can be read."""
        try:
            return cls(path, zipfile.ZipFile(host.path(path)))
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
            return None

    def metadata_folders(self) -> list[str]:
        """Return the metadata folders at the top of the archive, sorted."""
        tops = {name.partition("/")[0] for name in self._names if "/" in name}
        return sorted(top for top in tops if top.endswith(_ENDINGS) or top == "EGG-INFO")

    def exists(self, path: str) -> bool:
        """Return whether the archive holds a file of that path."""
        return self._inner(path) in self._names

    def read_bytes(self, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in the archive, or None."""
        name = self._inner(path)
        if name not in self._names:
            return None
        try:
            if self._file.getinfo(name).compress_type not in _COMPRESSIONS:
                return None
            with self._file.open(name) as file:
                return file.read(limit)
        except (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error):
            return None

    def _inner(self, path: str) -> str:
        return path[len(self._path) + 1 :]
