"""Compare the files of installed distributions with what their RECORD says.

First the size of every file, then the digests, code before data, as far as the budget goes.
CPython 3.9, standard library.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from envcheck.startup.budget import Budget, OutOfTime

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["Inspection", "Tampered", "inspect_files"]

_CHUNK = 1 << 20
_CODE = (".py", ".so", ".pyd", ".dll", ".dylib", ".pth")
_MOST_FOUND = 1_000
_ALGORITHMS = ("sha256", "sha384", "sha512")


class Tampered(NamedTuple):
    """A file that is not as it was installed."""

    path: str
    what: str


class _Listed(NamedTuple):
    path: str
    algorithm: str
    digest: str
    size: int


class Inspection:
    """How many files were looked at, and which of them are not as RECORD says."""

    def __init__(self) -> None:
        self.listed = 0
        self.sized = 0
        self.hashed = 0
        self.tampered: list[Tampered] = []
        self.is_complete = False
        """Whether the budget was enough for every file."""


def inspect_files(host: Host, budget: Budget) -> Inspection:
    """Return what became of the files that RECORD lists with a digest."""
    found = Inspection()
    try:
        budget.within(lambda: _inspect(host, found))
    except OutOfTime:
        pass
    found.tampered.sort()
    return found


def _inspect(host: Host, found: Inspection) -> None:
    listed = [item for dist in host.distributions for item in _listed(dist.folder, dist.raw_record)]
    found.listed = len(listed)
    good = []
    for item in listed:
        what = _size_problem(item)
        found.sized += 1
        if what:
            found.hashed += 1  # no digest is needed any more
            _add(found, item, what)
        else:
            good.append(item)
    good.sort(key=lambda item: (not item.path.endswith(_CODE), item.size))
    for item in good:
        what = _digest_problem(item)
        found.hashed += 1
        if what:
            _add(found, item, what)
    found.is_complete = True


def _add(found: Inspection, item: _Listed, what: str) -> None:
    if len(found.tampered) < _MOST_FOUND:
        found.tampered.append(Tampered(item.path, what))


def _listed(folder: str, record: bytes) -> Iterator[_Listed]:
    """Yield the files of a RECORD that have a digest; byte code has none."""
    for line in record.decode("utf-8", "surrogateescape").split("\n"):
        path, _, rest = _unquoted(line)
        algorithm, equals, digest = rest.partition(",")[0].partition("=")
        size = rest.rpartition(",")[2]
        if equals and algorithm in _ALGORITHMS:
            wanted = int(size) if size.isascii() and size.isdecimal() else -1
            yield _Listed(os.path.join(folder, path), algorithm, digest, wanted)


def _unquoted(line: str) -> tuple[str, str, str]:
    """Return the path of a RECORD line, a comma, and digest and size."""
    line = line.rstrip("\r")
    if line.startswith('"'):
        path, quote, rest = line[1:].replace('""', "\0").partition('"')
        return path.replace("\0", '"'), quote, rest[1:]
    head, comma, size = line.rpartition(",")
    path, _, digest = head.rpartition(",")
    return path, comma, f"{digest},{size}"


def _size_problem(item: _Listed) -> str:
    try:
        size = os.stat(item.path).st_size
    except (OSError, ValueError) as problem:
        return "is missing" if isinstance(problem, FileNotFoundError) else "cannot be read"
    if 0 <= item.size != size:
        return f"has {size} bytes instead of {item.size}"
    return ""


def _digest_problem(item: _Listed) -> str:
    digest = hashlib.new(item.algorithm)
    try:
        with open(item.path, "rb", buffering=0) as file:
            while True:
                data = file.read(_CHUNK)
                if not data:
                    break
                digest.update(data)
    except OSError:
        return "cannot be read"
    text = base64.urlsafe_b64encode(digest.digest()).decode("ascii").rstrip("=")
    return "" if text == item.digest.rstrip("=") else "has another content"
