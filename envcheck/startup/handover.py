"""Replace this process by the application. CPython 3.9, standard library.

The application keeps the process id, gets every signal itself, and finds the process as it
would have been without envcheck: signals at their defaults, no timer, the variables as given.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import NoReturn

from envcheck.errors import UsageError

__all__ = ["hand_over", "original_variables"]

_CHANGED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")
"""Signals that the interpreter ignores at its start, and that a new program would inherit so."""
_COERCED = "LC_CTYPE"


def hand_over(command: Sequence[str]) -> NoReturn:
    """Become the application. Raises UsageError where it cannot be started."""
    environ = original_variables(os.environ, "/proc/self/environ")
    for name in _CHANGED_BY_PYTHON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        os.execvpe(command[0], list(command), environ)  # noqa: S606 (the point of it)
    except (OSError, ValueError) as problem:
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        raise UsageError(
            f"the application cannot be started: {reason}",
            place=f"envcheck exec -- {command[0]}",
            hint="after -- stands a program and its arguments, without a shell",
        ) from problem


def original_variables(environ: Mapping[str, str], block: str) -> dict[str, str]:
    """Return the variables without the one that the interpreter adds under the C locale.

    It sets LC_CTYPE for itself (PEP 538); `block` is where the kernel keeps what was given.
    """
    out = dict(environ)
    if _COERCED not in out:
        return out
    try:
        with open(block, "rb") as file:
            given = file.read(1 << 22).split(b"\0")
    except OSError:
        return out
    if given != [b""] and not any(item.startswith(b"LC_CTYPE=") for item in given):
        del out[_COERCED]
    return out
