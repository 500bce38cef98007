"""SavedModel folders: a file below `assets.extra`, which TensorFlow leaves to others.

The `fingerprint.pb` of a SavedModel is TensorFlow's own and something else. CPython 3.9,
standard library.
"""

from __future__ import annotations

import os

from envcheck.artefacts.saved_model import EMBEDDED
from envcheck.embedding.sidecar import read_file
from envcheck.fingerprint.document import write_atomically

__all__ = ["FILE", "read", "write"]

FILE = f"{EMBEDDED}/fingerprint.json"


def read(path: str) -> bytes | None:
    """Return what the model carries. Raises InputError."""
    return read_file(os.path.join(path, *FILE.split("/")))


def write(path: str, data: bytes) -> None:
    """Put `data` in, in place of what the model carries. Raises OSError."""
    target = os.path.join(path, *FILE.split("/"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    write_atomically(target, data.decode("utf-8"))
