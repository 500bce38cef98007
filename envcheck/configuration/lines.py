"""The line of every key of a TOML document, which `tomllib` does not tell.

The text must have been accepted by `tomllib`: nothing is checked here.
"""

from __future__ import annotations

import re

__all__ = ["Path", "lines_of"]

Path = tuple[str | int, ...]
"""Keys and positions from the top of a document."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SKIP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANKS = re.compile(r"[ \t]*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def lines_of(text: str) -> dict[Path, int]:
    """Return the line, counted from 1, on which each key, table and list item begins."""
    return _Scanner(text).run()


class _Scanner:
    """Walks over a document once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[Path, int] = {}
        self._lengths: dict[Path, int] = {}
        self._counted = (0, 1)

    def run(self) -> dict[Path, int]:
        """Return the lines."""
        table: Path = ()
        self._blank()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._entry(table)
            self._blank()
        return self._lines

    def _blank(self) -> None:
        found = _SKIP.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _note(self, path: Path) -> None:
        """Keep the line of a path; one that comes up again keeps its first."""
        position, line = self._counted
        line += self._text.count("\n", position, self._at)
        self._counted = (self._at, line)
        self._lines.setdefault(path, line)

    def _header(self) -> Path:
        many = self._text.startswith("[[", self._at)
        start = self._at
        self._at += 2 if many else 1
        keys = self._keys()
        self._at += 2 if many else 1
        end, self._at = self._at, start
        path: Path = ()
        for i, key in enumerate(keys):
            path = (*path, key)
            if many and i == len(keys) - 1:
                self._note(path)
                length = self._lengths.get(path, 0)
                self._lengths[path] = length + 1
                path = (*path, length)
            elif path in self._lengths:
                path = (*path, self._lengths[path] - 1)
            self._note(path)
        self._at = end
        return path

    def _keys(self) -> list[str]:
        """Return the parts of a dotted key."""
        keys = []
        while True:
            self._spaces()
            keys.append(self._key())
            self._spaces()
            if self._text[self._at : self._at + 1] != ".":
                return keys
            self._at += 1

    def _spaces(self) -> None:
        found = _BLANKS.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _key(self) -> str:
        if self._text[self._at] in "\"'":
            return self._string()
        found = _BARE.match(self._text, self._at)
        self._at = found.end() if found else self._at + 1
        return found.group() if found else ""

    def _entry(self, table: Path) -> None:
        start = self._at
        keys = self._keys()
        end, self._at = self._at, start
        path = table
        for key in keys:
            path = (*path, key)
            self._note(path)
        self._at = end + 1  # the equals sign
        self._spaces()
        self._value(path)

    def _value(self, path: Path) -> None:
        first = self._text[self._at : self._at + 1]
        if first in ('"', "'"):
            self._string()
        elif first == "[":
            self._list(path)
        elif first == "{":
            self._inline_table(path)
        else:
            found = re.compile(r"[^,\]}#\r\n]*").match(self._text, self._at)
            self._at = found.end() if found else self._at

    def _list(self, path: Path) -> None:
        self._at += 1
        index = 0
        while True:
            self._blank()
            if self._text[self._at] == "]":
                self._at += 1
                return
            self._note((*path, index))
            self._value((*path, index))
            index += 1
            self._blank()
            if self._text[self._at] == ",":
                self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while True:
            self._blank()
            if self._text[self._at] == "}":
                self._at += 1
                return
            self._entry(path)
            self._blank()
            if self._text[self._at] == ",":
                self._at += 1

    def _string(self) -> str:
        """Step over a string and return what it holds."""
        quote = self._text[self._at]
        long = self._text.startswith(quote * 3, self._at)
        mark = quote * 3 if long else quote
        start = self._at + len(mark)
        end = start
        while not self._text.startswith(mark, end):
            end += 2 if quote == '"' and self._text[end] == "\\" else 1
        while long and self._text.startswith(quote, end + 3):  # quotes before the closing ones
            end += 1
        self._at = end + len(mark)
        raw = self._text[start:end]
        return raw if quote == "'" else _ESCAPE.sub(_unescape, raw)


def _unescape(found: re.Match[str]) -> str:
    digits = found.group(1) or found.group(2)
    if digits:
        return chr(int(digits, 16))
    return _SHORT.get(found.group(3), found.group(3))
