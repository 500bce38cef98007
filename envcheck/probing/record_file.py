"""RECORD, the list of the files of a distribution. CPython 3.9, standard library.

There are hundreds of them with tens of thousands of lines, so the lines are sorted once, and what
is to be left out is cut out in blocks.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator

__all__ = ["Record"]

_MODULES = (b".py,", b".so,", b".pyd,")
_COMMA = ord(",")


class Record:
    """The lines of a RECORD file, of which some are the distribution's own.

    The others are launcher scripts and data outside the package folder, compiled byte code and
    the metadata folder itself, all of which depend on where and how it was installed.
    """

    def __init__(self, data: bytes, entry: str) -> None:
        """Take RECORD of the metadata folder `entry` apart."""
        folder = (entry.encode() if entry.isascii() else os.fsencode(entry)) + b"/"
        heads = [folder, b"..", b"/"]
        if b"\\" in data:
            heads.append(b"\\")
        if b'"' in data:
            heads += [b'"' + folder, b'"..', b'"/']
        lines = data.split(b"\n")
        lines.sort()
        del lines[: bisect_left(lines, b"\0")]  # empty ones
        cut = [_cut(lines, head) for head in heads]
        own = [line for line in lines if line[-1] != _COMMA or not line.endswith(b".pyc,,")]
        text = b"\n".join(own)
        if b".pyc," in text or (b'"' in text and b'.pyc",' in text):  # pip does not write these
            own = [line for line in own if b".pyc," not in line and b'.pyc",' not in line]
            text = b"\n".join(own)
        self._metadata = cut[0]
        self.is_empty = not data
        """Whether there is no RECORD, or nothing in it."""
        self.own_text = text
        """The lines that name the distribution's own files, sorted, as one text."""
        self.import_names = sorted(set(_top_levels(own)))
        """The top-level import names among the own files, sorted."""
        self.other_lines = [line for lines in cut for line in lines]
        """The other lines, without those of compiled byte code."""

    @property
    def own_lines(self) -> list[bytes]:
        """The lines that name the distribution's own files, sorted.

        They are made anew each time: kept for hundreds of distributions, they would cost more in
        fresh memory than in splitting.
        """
        return self.own_text.split(b"\n") if self.own_text else []

    @property
    def files(self) -> list[str]:
        """The paths of the own files."""
        return [_path_of(line) for line in self.own_lines]

    def mentions(self, word: bytes) -> bool:
        """Return whether a word stands in any line, other than of compiled byte code."""
        return word in self.own_text or word in b"\n".join(self.other_lines)

    def may_list(self, name: str) -> bool:
        """Return whether a file is in the metadata folder, or this RECORD does not tell.

        One that does not even list itself is not to be relied on.
        """
        names = [line.rpartition(b"/")[2].partition(b",")[0] for line in self._metadata]
        return b"RECORD" not in names or name.encode() in names


def _cut(lines: list[bytes], head: bytes) -> list[bytes]:
    """Remove the lines that start with `head` from sorted lines, and return them."""
    start = bisect_left(lines, head)
    if start == len(lines) or not lines[start].startswith(head):
        return []
    stop = bisect_left(lines, head[:-1] + bytes((head[-1] + 1,)), start)
    found = lines[start:stop]
    del lines[start:stop]
    return found


def _path_of(line: bytes) -> str:
    """Return the path in a line of RECORD."""
    path = line.rsplit(b",", 2)[0]
    if path.startswith(b'"'):
        path = path[1:].rstrip(b'"').replace(b'""', b'"')
    return path.decode("utf-8", "replace")


def _top_levels(lines: list[bytes]) -> Iterator[str]:
    """Yield the import names in sorted lines of RECORD, visiting each folder once."""
    position = 0
    while position < len(lines):
        line = lines[position]
        top, slash, _ = line.partition(b"/")
        start = position
        position = bisect_left(lines, top + b"0", position) if slash else position + 1
        if not slash:
            if not any(ending in line for ending in _MODULES):
                continue
            top = top.split(b".", 1)[0]
        name = top.decode("utf-8", "replace").lstrip('"')
        if not name.isidentifier() or name.startswith(("__editable__", "__pycache__")):
            continue
        if not slash or _holds_module(lines, start, position):
            yield name


def _holds_module(lines: list[bytes], start: int, stop: int) -> bool:
    for index in range(start, stop):
        line = lines[index]
        if b".py," in line or b".so" in line or b".pyd," in line or b'.py",' in line:
            return True
    return False
