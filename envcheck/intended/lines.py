"""The logical lines of requirement files, with nested files, options and constraints resolved."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.errors import InputError
from envcheck.fingerprint.files import read_bounded
from envcheck.intended.wanted import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Line", "read_lines"]

_SIZE_LIMIT = 4 << 20
_MOST_FILES = 100
_COMMENT = re.compile(r"(?:^|\s+)#.*$")
_OPTIONS_BEHIND = re.compile(r"\s--?[A-Za-z][A-Za-z-]*(?:[\s=].*)?$")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHORT = {"-r": "--requirement", "-c": "--constraint", "-e": "--editable"}
_IGNORED = {
    "-f", "-i", "--config-settings", "--extra-index-url", "--find-links", "--index-url",
    "--no-binary", "--no-index", "--only-binary", "--pre", "--prefer-binary", "--process-date",
    "--require-hashes", "--trusted-host", "--uploaded-prior-to", "--use-feature", "--use-pep517",
    "--no-use-pep517", "--no-build-isolation", "--all-releases", "--only-final",
}  # fmt: skip
"""Options that say where and how to look, not what to install. Their values are never kept."""


@dataclass(frozen=True)
class Line:
    """One requirement as the file spells it."""

    text: str
    place: str
    folder: str
    editable: bool = False
    constraint: bool = False
    hashed: bool = False


class _Reader:
    def __init__(self) -> None:
        self.files: list[str] = []

    def read(self, path: str, asked_at: str, *, constraint: bool) -> Iterator[Line]:
        """Yield the requirements of a file and of those that it includes; each file once."""
        identity = os.path.realpath(path)
        if identity in self.files:
            return
        if len(self.files) >= _MOST_FILES:
            raise InputError(f"more than {_MOST_FILES} files are included", place=asked_at)
        self.files.append(identity)
        for number, text in _joined(_text(path, asked_at)):
            place = f"{path}:{number}"
            if text.startswith("-"):
                yield from self._option(text, path, place, constraint=constraint)
            else:
                yield _requirement(text, path, place, constraint=constraint)

    def _option(self, text: str, path: str, place: str, *, constraint: bool) -> Iterator[Line]:
        name, value = _split_option(text)
        if name in ("--requirement", "--constraint", "--editable") and not value:
            raise InputError(f"{name} names nothing", place=place)
        if name == "--editable":
            line = _requirement(value, path, place, constraint=constraint)
            yield Line(line.text, place, line.folder, editable=True, constraint=constraint)
        elif name in ("--requirement", "--constraint"):
            if "://" in value:
                raise InputError(
                    f"includes {shown(value)}, which is not fetched",
                    place=place,
                    hint="download it and include the local file",
                )
            nested = os.path.normpath(os.path.join(os.path.dirname(path), value))
            below = constraint or name == "--constraint"
            yield from self.read(nested, place, constraint=below)
        elif name not in _IGNORED:
            raise InputError(f"unknown option {shown(name)}", place=place)


def read_lines(path: str) -> tuple[list[Line], list[str]]:
    """Return the requirements of a file, included ones too, and the files that were read.

    Raises InputError with the file and line.
    """
    reader = _Reader()
    lines = list(reader.read(path, "", constraint=False))
    return lines, reader.files


def _text(path: str, asked_at: str) -> str:
    """Return the text of a requirement file; a mark at its start tells the encoding."""
    try:
        data = read_bounded(path, _SIZE_LIMIT)
    except InputError as problem:
        if not asked_at:
            raise InputError(problem.problem, place=problem.place) from problem
        raise InputError(f"cannot include {path}: {problem.problem}", place=asked_at) from problem
    encoding = "utf-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        raise InputError(f"is not {encoding} text (byte {problem.start})", place=path) from problem
    if "\0" in text:
        raise InputError("is not a text file", place=path)
    return text


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield non-empty lines without comments, continued ones joined, with their first number."""
    start, parts = 0, []
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        start = start or number
        comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not comment and number < len(lines):
            parts.append(line[:-1])
            continue
        parts.append("" if comment else line)
        joined = _COMMENT.sub("", "".join(parts)).strip()
        if joined:
            yield start, joined
        start, parts = 0, []


def _split_option(text: str) -> tuple[str, str]:
    """Return the long name of an option and its value, as `-r x`, `-rx` and `--name=x` have it."""
    short = _SHORT.get(text[:2])
    if short:
        return short, text[2:].lstrip(" \t=").strip()
    name, _, value = re.sub(r"[\s=]", " ", text, count=1).partition(" ")
    return _SHORT.get(name, name), value.strip()


def _requirement(text: str, path: str, place: str, *, constraint: bool) -> Line:
    """Return a requirement without the options behind it; only hashes among them tell something."""
    hashed = " --hash" in f" {text}".replace("\t", " ")
    while _OPTIONS_BEHIND.search(text):
        text = re.split(r"\s--?[A-Za-z]", text, maxsplit=1)[0].strip()
    return Line(text, place, os.path.dirname(path), constraint=constraint, hashed=hashed)
