"""The short text that Kubernetes shows for a container that ended.

CPython 3.9, standard library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

__all__ = ["DEFAULT", "LIMIT", "VARIABLE", "message", "write"]

LIMIT = 1_000
"""Bytes. Kubernetes keeps 4,096 of a container, 12 KiB of a pod."""
DEFAULT = "/dev/termination-log"
VARIABLE = "ENVCHECK_TERMINATION_LOG"
_ELLIPSIS = b" ..."


def message(head: str, lines: Sequence[str], foot: str) -> bytes:
    """Return head, lines and foot within the limit; lines are cut first, then the head."""
    last = b"\n" + _ascii(foot)
    out = _cut(_ascii(head), LIMIT - len(last))
    for position, line in enumerate(lines):
        more = b"\n" + _ascii(line)
        left = LIMIT - len(out) - len(last)
        rest = f"\nand {len(lines) - position} more".encode("ascii")
        if len(more) > left - (0 if position == len(lines) - 1 else len(rest)):
            if position == 0 and left > 80:
                out += _cut(more, left)
            elif len(rest) <= left:
                out += rest
            break
        out += more
    return out + last


def _ascii(text: str) -> bytes:
    return text.encode("ascii", "backslashreplace").replace(b"\r", b" ").replace(b"\x1b", b" ")


def _cut(data: bytes, most: int) -> bytes:
    return data if len(data) <= most else data[: most - len(_ELLIPSIS)] + _ELLIPSIS


def write(data: bytes, environ: Mapping[str, str]) -> bool:
    """Write to the termination log if there is one; return whether it was written.

    The file is never made: where Kubernetes wants a message it has put a file.
    """
    path = environ.get(VARIABLE) or DEFAULT
    flags = os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError):
        return False
    try:
        os.write(handle, data)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
