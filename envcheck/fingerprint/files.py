"""Read a file or stream of limited size. CPython 3.9, standard library."""

from __future__ import annotations

import os
import stat
import sys
import time

from envcheck.errors import InputError

__all__ = ["MAKE_ONE", "SIZE_LIMIT", "read_bounded", "read_stdin"]

SIZE_LIMIT = 32 << 20
"""Largest fingerprint that is read (32 MiB); a real one has well under 1 MiB."""
MAKE_ONE = "make a fingerprint with: envcheck capture -o train.json"
PIPE_PATIENCE = 10.0
"""Seconds that a named pipe may stay without a writer."""


def read_stdin(limit: int = SIZE_LIMIT) -> bytes:
    """Return standard input, of at most `limit` bytes.

    Raises InputError when it is closed or larger.
    """
    place = "standard input"
    if sys.stdin is None:
        raise InputError("is closed", place=place, hint="name a file, or pipe one in")
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", place=place, hint=MAKE_ONE) from problem
    if len(data) > limit:
        raise InputError(
            f"has more than {limit >> 20} MiB, too large for a fingerprint",
            place=place,
            hint=MAKE_ONE,
        )
    return data


def read_bounded(path: str, limit: int) -> bytes:
    """Return the content of a regular file or pipe of at most `limit` bytes.

    Raises InputError when it is missing, a folder, unreadable or larger.
    """
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder, not a file", place=path, hint=MAKE_ONE)
        if stat.S_ISREG(status.st_mode) and status.st_size > limit:
            raise InputError(
                f"has {status.st_size:,} bytes; at most {limit >> 20} MiB are read",
                place=path,
                hint="a fingerprint of 500 packages has about 1 MiB; is this the right file?",
            )
        if stat.S_ISFIFO(status.st_mode) and hasattr(os, "O_NONBLOCK"):
            data = _read_pipe(path, limit + 1)
        else:
            with open(path, "rb") as stream:
                data = stream.read(limit + 1)
    except OSError as problem:
        reason = (problem.strerror or "cannot be read").lower()
        raise InputError(reason, place=path, hint=_hint(problem)) from problem
    except ValueError as problem:
        raise InputError("is not a usable path", place=path, hint=MAKE_ONE) from problem
    if len(data) > limit:
        raise InputError(f"has more than {limit >> 20} MiB", place=path, hint=MAKE_ONE)
    return data


def _hint(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError):
        return MAKE_ONE
    if isinstance(problem, PermissionError):
        return "check its permissions, or run as the user who owns it"
    return "is this the right path?"


def _read_pipe(path: str, most: int) -> bytes:
    """Read a named pipe to its end; one that nobody writes to is an error, not a hang."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        start = time.monotonic()
        chunks = [_first_chunk(handle, start, path)]
        os.set_blocking(handle, True)
        size = len(chunks[0])
        while size < most:
            more = os.read(handle, min(1 << 20, most - size))
            if not more:
                break
            chunks.append(more)
            size += len(more)
        return b"".join(chunks)
    finally:
        os.close(handle)


def _first_chunk(handle: int, start: float, path: str) -> bytes:
    while True:
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:  # a writer is there and has not written yet
            os.set_blocking(handle, True)
            return os.read(handle, 1 << 16)
        if data:
            return data
        if time.monotonic() - start > PIPE_PATIENCE:
            raise InputError(
                f"is a pipe that nothing wrote to in {PIPE_PATIENCE:.0f} s",
                place=path,
                hint="start the program that writes to it first",
            )
        time.sleep(0.02)
