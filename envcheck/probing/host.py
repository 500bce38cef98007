"""The machine as probes see it: files below a root, variables, and an interpreter.

A probe touches the machine only through a `Host`, so the same probe reads this machine, an
unpacked container image (`--root`) and a recorded host of the tests. CPython 3.9, standard
library.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from io import FileIO

from envcheck.probing.distributions import Distribution, scan
from envcheck.probing.interpreter import Interpreter, find_interpreter, live_interpreter

__all__ = ["Host", "PathEscape"]

READ_LIMIT = 1 << 20
"""Bytes read from one file unless the probe asks for another limit (1 MiB)."""
_MAX_LINKS = 40


class PathEscape(OSError):
    """A path that cannot be resolved below the root, for instance a loop of links."""


class Host:
    """One machine to look at.

    `live` is true for this machine and this interpreter: only then may a probe ask the running
    process (`os.uname`, `sys`, NVML). Otherwise everything comes from files below `root`, with
    absolute links resolved inside it, as `chroot` would.
    """

    def __init__(  # noqa: PLR0913  one keyword for each thing that may differ
        self,
        root: str = "/",
        *,
        live: bool | None = None,
        environ: Mapping[str, str] | None = None,
        interpreter: Interpreter | None = None,
        deep: bool = False,
        files: Sequence[str] = (),
        models: Sequence[str] = (),
    ) -> None:
        here = os.path.abspath(os.sep)
        self.root = os.path.abspath(root)
        if not self.root.strip("/"):  # POSIX keeps a double slash at the start
            self.root = here
        self.live = (self.root == here) if live is None else live
        self.environ: Mapping[str, str] = (
            environ if environ is not None else (os.environ if self.live else {})
        )
        self.knows_environ = self.live or environ is not None
        """False for an image: the variables its processes get are not in its files."""
        self.deep = deep
        self.files = tuple(files)
        self.models = tuple(models)
        self.system = sys.platform if self.live else "linux"
        self._confined = self.root != here
        self._flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        if self._confined:
            self._flags |= getattr(os, "O_NOFOLLOW", 0)
        self._interpreter = interpreter
        self._distributions: list[Distribution] | None = None

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter under test: the running one, or the one found below the root."""
        if self._interpreter is None:
            self._interpreter = live_interpreter() if self.live else find_interpreter(self)
        return self._interpreter

    @property
    def distributions(self) -> list[Distribution]:
        """The installed distributions on the interpreter's path, first on the path first."""
        if self._distributions is None:
            self._distributions = scan(self, self.interpreter.path)
        return self._distributions

    def path(self, path: str) -> str:
        """Return where `path` (absolute, as seen inside the root) lies on this machine.

        Raises PathEscape when links loop.
        """
        if not self._confined:
            return path
        return _resolve_below(self.root, path)

    def open_binary(self, path: str) -> FileIO:
        """Open a regular file for reading; anything else, a pipe or a device, is an OSError."""
        return os.fdopen(self._open(path)[0], "rb", buffering=0)

    def _open(self, path: str) -> tuple[int, int]:
        """Return the handle and the size of a regular file."""
        place = self.path(path)
        try:
            if self._confined:
                # What a foreign root holds may be a device node, and opening one can act.
                _require_regular(os.lstat(place).st_mode, path)
            handle = os.open(place, self._flags)
        except ValueError as trouble:  # a zero byte in the name
            raise OSError(errno.EINVAL, str(trouble)) from trouble
        try:
            status = os.fstat(handle)
            _require_regular(status.st_mode, path)
        except OSError:
            os.close(handle)
            raise
        return handle, status.st_size

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes | None:
        """Return the first `limit` bytes of a regular file, or None if it cannot be read."""
        try:
            handle, size = self._open(path)
        except OSError:
            return None
        try:
            # A buffer much larger than the file would cost more than reading it; kernel files
            # say that they have no bytes.
            data = os.read(handle, min(limit, READ_LIMIT, size + 1 if size else READ_LIMIT))
            parts, length = [data], len(data)
            while parts[-1] and length < limit and length != size:
                parts.append(os.read(handle, min(limit - length, READ_LIMIT)))
                length += len(parts[-1])
            return data if len(parts) == 1 else b"".join(parts)
        except OSError:
            return None
        finally:
            os.close(handle)

    def read(self, path: str, limit: int = READ_LIMIT) -> str | None:
        """Return the text of a file (UTF-8, bad bytes replaced), or None if it cannot be read."""
        data = self.read_bytes(path, limit)
        return None if data is None else data.decode("utf-8", "replace")

    def listdir(self, path: str) -> list[str] | None:
        """Return the sorted names in a folder, or None if it cannot be listed."""
        try:
            return sorted(os.listdir(self.path(path)))
        except (OSError, ValueError):
            return None

    def link(self, path: str) -> str | None:
        """Return where a symbolic link points, as it is written, or None if it is not one."""
        folder, _, name = path.rpartition("/")
        try:
            return os.readlink(os.path.join(self.path(folder or "/"), name))
        except (OSError, ValueError):
            return None

    def exists(self, path: str) -> bool:
        """Return whether the path exists and can be seen."""
        try:
            return os.path.exists(self.path(path))
        except (OSError, ValueError):
            return False

    def is_dir(self, path: str) -> bool:
        """Return whether the path is a folder."""
        try:
            return os.path.isdir(self.path(path))
        except (OSError, ValueError):
            return False

    def why_not(self, path: str) -> str:
        """Return in words why `path` cannot be read, for the reason of an unknown fact."""
        try:
            self.open_binary(path).close()
        except OSError as problem:
            words: dict[int, str] = {
                errno.ENOENT: "does not exist",
                errno.ENOTDIR: "does not exist",
                errno.EACCES: "is not readable",
                errno.EPERM: "is not readable",
                errno.EISDIR: "is a folder",
                errno.ENOTSUP: "is not a regular file",
            }
            return f"{path} {words.get(problem.errno or 0, 'cannot be read')}"
        return f"{path} does not say"


def _require_regular(mode: int, path: str) -> None:
    if not stat.S_ISREG(mode):
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.ENOTSUP
        raise OSError(code, "not a regular file", path)


def _resolve_below(root: str, path: str) -> str:
    """Resolve `path` below `root`, following links as a process chrooted there would."""
    todo = [part for part in path.split("/") if part not in ("", ".")][::-1]
    done: list[str] = []
    links = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if done:
                done.pop()
            continue
        if os.sep != "/" and (os.sep in part or ":" in part):
            raise PathEscape(errno.EINVAL, "not a name inside the root", path)
        here = os.path.join(root, *done, part)
        if not os.path.islink(here):
            done.append(part)
            continue
        links += 1
        if links > _MAX_LINKS:
            raise PathEscape(errno.ELOOP, "too many links", path)
        target = os.readlink(here)
        if target.startswith("/"):
            done = []
        todo.extend(target.split("/")[::-1])
    return os.path.join(root, *done)
