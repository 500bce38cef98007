"""Files and folders as a model may name them, below a root where there is one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import Callable

from envcheck.artefacts.reading import Source, Unreadable, Unsure, clip, open_regular

__all__ = ["Place", "leaves_folder"]

_MOST_FILES = 100_000
_MOST_DEPTH = 32


class Place:
    """A path as the user gave it; `locate` says where it lies on this machine."""

    def __init__(self, path: str, locate: Callable[[str], str] | None = None) -> None:
        self.path = path
        self._locate = locate or (lambda path: path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return os.path.basename(self.path)

    def child(self, name: str) -> Place:
        """Return the place of a relative name (with `/`) below this folder."""
        return Place(f"{self.path}/{name}", self._locate)

    def sibling(self, name: str) -> Place:
        """Return the place of a relative name (with `/`) beside this file."""
        folder = os.path.dirname(self.path) or "."
        return Place(f"{folder}/{name}", self._locate)

    def real(self) -> str:
        """Return where the place lies once all links are followed."""
        return os.path.realpath(self._locate(self.path))

    def is_folder(self) -> bool:
        """Return whether this is a folder."""
        return stat.S_ISDIR(self._mode())

    def is_file(self) -> bool:
        """Return whether this is a regular file, links followed."""
        try:
            return stat.S_ISREG(self._mode())
        except (Unreadable, Unsure):
            return False

    def open(self) -> Source:
        """Open the file. Raises Unreadable, or Unsure where the permission is missing."""
        try:
            return open_regular(self._locate(self.path))
        except (OSError, ValueError) as problem:
            raise _told(problem) from problem

    def names(self) -> list[str]:
        """Return the sorted names in this folder."""
        try:
            return sorted(os.listdir(self._locate(self.path)))
        except (OSError, ValueError) as problem:
            raise _told(problem) from problem

    def link_target(self) -> str:
        """Return what the last part of the path links to, or '' when it is no link."""
        folder = os.path.dirname(self.path) or "."
        try:
            return os.readlink(os.path.join(self._locate(folder), self.name))
        except (OSError, ValueError):
            return ""

    def files(self) -> Iterator[str]:
        """Yield the relative names of all files below this folder, sorted, with `/`.

        Links to folders are not followed: a folder could contain itself.
        """
        found: list[str] = []
        todo = [("", 0)]
        while todo:
            prefix, depth = todo.pop()
            here = self.child(prefix) if prefix else self
            for name in here.names():
                inner = f"{prefix}/{name}" if prefix else name
                place = self.child(inner)
                if place.link_target() or not place.is_folder():
                    found.append(inner)
                elif depth < _MOST_DEPTH:
                    todo.append((inner, depth + 1))
                else:
                    raise Unreadable(f"folders are nested more than {_MOST_DEPTH} levels deep")
                if len(found) + len(todo) > _MOST_FILES:
                    raise Unreadable(f"holds more than {_MOST_FILES} files")
        yield from sorted(found)

    def _mode(self) -> int:
        try:
            return os.stat(self._locate(self.path)).st_mode
        except (OSError, ValueError) as problem:
            raise _told(problem) from problem


def leaves_folder(name: str) -> bool:
    """Return whether a name stored in an artefact would lead out of the artefact's folder."""
    parts = name.replace("\\", "/").split("/")
    drive = len(name) > 1 and name[1] == ":" and name[0].isalpha()
    return drive or parts[0] == "" or ".." in parts or "\0" in name


def _told(problem: Exception) -> Exception:
    """Return the exception for a failed system call."""
    code = getattr(problem, "errno", 0)
    if code in (errno.EACCES, errno.EPERM):
        return Unsure("is not readable")
    words = {
        errno.ENOENT: "does not exist",
        errno.ENOTDIR: "does not exist",
        errno.ELOOP: "is a link that leads back to itself",
        errno.ENAMETOOLONG: "has a name that is too long",
        errno.EIO: "cannot be read: the storage reports an error",
    }
    told = getattr(problem, "strerror", None) or type(problem).__name__
    return Unreadable(words.get(code or 0, f"cannot be read: {clip(str(told))}"))
