"""Turn what `compare` is given into a fingerprint.

A side is a fingerprint file, `-` (standard input), `live` (this interpreter, now), a model that
carries a fingerprint or has one beside it, or a file that says what is intended to be installed:
requirements or a lock.
"""

from __future__ import annotations

import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from envcheck.embedding.sidecar import path_of
from envcheck.errors import InputError
from envcheck.fingerprint.document import Fingerprint
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded
from envcheck.fingerprint.reading import parse_fingerprint, read_fingerprint
from envcheck.records import replace

if TYPE_CHECKING:
    from typing import TypeAlias

    Side: TypeAlias = str | os.PathLike[str] | Fingerprint

__all__ = ["LIVE", "STDIN", "load_side"]

LIVE = "live"
STDIN = "-"
_INTENDED = ("*requirements*.txt", "*requirements*.in", "*constraints*.txt", "pylock*.toml")
_HEAD = 64
_TEXT_SUFFIXES = (".txt", ".in")
_ACCEPTED = (
    "a side is a fingerprint, -, live, a model that carries one, requirements*.txt,"
    " requirements*.in or pylock*.toml"
)
_STRANGERS = {
    "poetry.lock": "poetry export -o requirements.txt",
    "uv.lock": "uv export --format pylock.toml -o pylock.toml",
    "pdm.lock": "pdm export -f pylock -o pylock.toml",
    "pipfile": "pipenv requirements > requirements.txt",
    "pipfile.lock": "pipenv requirements > requirements.txt",
    "pyproject.toml": "uv pip compile pyproject.toml -o requirements.txt",
    "environment.yml": "envcheck capture --python ENVIRONMENT/bin/python -o train.json",
    "environment.yaml": "envcheck capture --python ENVIRONMENT/bin/python -o train.json",
}
"""Files that people try, and the command that makes one we read."""


def load_side(side: Side) -> Fingerprint:
    """Return the fingerprint that one side of a comparison stands for.

    Raises InputError and SchemaError.
    """
    if isinstance(side, Fingerprint):
        return side
    path = os.fspath(side)
    if path == STDIN:
        return read_fingerprint(STDIN)
    if path == LIVE and isinstance(side, str):
        from envcheck.capturing import capture

        return replace(capture(), place=LIVE)
    return _load_file(path)


def _load_file(path: str) -> Fingerprint:
    if not _is_plainly_json(path):
        from envcheck.embedding.carriers import extract, is_model

        if is_model(path):
            return extract(path)
    data = read_bounded(path, SIZE_LIMIT)
    name = os.path.basename(path).lower()
    if _is_object(data):
        return parse_fingerprint(data, path)
    if any(fnmatch(name, pattern) for pattern in _INTENDED):
        return _load_intended(path)
    if name in _STRANGERS:
        raise InputError(
            "is not read as an environment", place=path, hint=f"make one with: {_STRANGERS[name]}"
        )
    if name.endswith(_TEXT_SUFFIXES) and _is_text(data):
        return _load_intended(path)
    what = _looks_like(data)
    if what:
        raise InputError(f"{what}, not a fingerprint", place=path, hint=_ACCEPTED)
    return parse_fingerprint(data, path)


def _is_plainly_json(path: str) -> bool:
    """Return whether a file can be no model, so that what reads models need not be loaded."""
    if path.lower().endswith(".onnx") or os.path.isfile(path_of(path)):
        return False
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb", buffering=0) as stream:
            return _is_object(stream.read(_HEAD))
    except (OSError, ValueError):
        return False


def _load_intended(path: str) -> Fingerprint:
    from envcheck.intended import read_intended

    return read_intended(path)


def _is_object(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _is_text(data: bytes) -> bool:
    return bool(data.strip()) and b"\0" not in data[:4096]


def _looks_like(data: bytes) -> str:
    """Name the kinds of file that are given by mistake, or return nothing."""
    heads = {
        b"PK\x03\x04": "is a zip archive (a wheel, a Keras model …)",
        b"\x89HDF": "is an HDF5 file (a Keras model …)",
        b"\x1f\x8b": "is compressed with gzip",
        b"\x7fELF": "is a program",
        b"\x80\x04": "is a pickle",
        b"\x80\x05": "is a pickle",
        b"%PDF": "is a PDF",
    }
    for head, words in heads.items():
        if data.startswith(head):
            return words
    first = data.lstrip()[:400].split(b"\n", 1)[0]
    if b"\0" in data[:4096] or first[:1] in b'[{"':
        return ""
    if b"==" in first or first.startswith((b"-r ", b"--")):
        return "looks like a requirements file that is not named so (requirements.txt)"
    return ""
