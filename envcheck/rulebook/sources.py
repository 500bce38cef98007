"""The files of a rule folder, and the hash that tells whether a compiled form is fresh."""

from __future__ import annotations

import hashlib
from pathlib import Path

from envcheck.errors import RuleError

__all__ = ["FILE_LIMIT", "is_about_training", "read_sources", "source_hash"]

FILE_LIMIT = 1 << 20
"""Largest rule file, in bytes."""


def read_sources(folder: Path) -> dict[str, bytes]:
    """Return the N3 files below a folder by relative path, in order."""
    if not folder.is_dir():
        raise RuleError("no such folder", place=str(folder), hint="--rules names a folder")
    paths = sorted(path for path in folder.rglob("*.n3") if path.is_file())
    if not paths:
        raise RuleError("the folder holds no .n3 file", place=str(folder))
    return {path.relative_to(folder).as_posix(): _read(path) for path in paths}


def is_about_training(name: str) -> bool:
    """Tell by its path in a rule folder whether a file or folder is about training runs."""
    return "training" in name.removesuffix(".n3").split("/")


def source_hash(sources: dict[str, bytes]) -> str:
    """Return the SHA-256 of names and contents, the same for any line ends."""
    digest = hashlib.sha256()
    for name, content in sorted(sources.items()):
        text = content.replace(b"\r\n", b"\n")
        digest.update(b"%d %s %d\n" % (len(name), name.encode(), len(text)))
        digest.update(text)
    return digest.hexdigest()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", place=str(path)) from error
