"""Replace a file by a new one, whole or not at all. CPython 3.9, standard library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Give a stream for the new content; `path` is replaced when the block ends without error.

    Links are followed and the mode is kept. Raises OSError.
    """
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".envcheck-{os.urandom(6).hex()}.tmp")
    mode = os.stat(target).st_mode & 0o7777
    try:
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
