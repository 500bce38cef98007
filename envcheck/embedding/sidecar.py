"""A file beside the model, for formats that carry nothing. CPython 3.9, standard library."""

from __future__ import annotations

import os

from envcheck.fingerprint.document import write_atomically
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded

__all__ = ["path_of", "read", "read_file", "write"]

_ENDING = ".envcheck.json"


def path_of(model: str) -> str:
    """Return the path of the file beside a model."""
    return model.rstrip("/" + os.sep) + _ENDING


def read(model: str) -> bytes | None:
    """Return what lies beside the model. Raises InputError."""
    return read_file(path_of(model))


def write(model: str, data: bytes) -> None:
    """Put `data` beside the model. Raises OSError."""
    write_atomically(path_of(model), data.decode("utf-8"))


def read_file(path: str) -> bytes | None:
    """Return the content of a file, or None where there is none. Raises InputError."""
    return read_bounded(path, SIZE_LIMIT) if os.path.lexists(path) else None
