"""What goes to the screen and to files: results on stdout, all else on stderr.

CPython 3.9, standard library.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from envcheck.errors import EnvcheckError, OutputError
from envcheck.reporting.escape import escape, escape_lines, for_encoding

__all__ = ["Closed", "Console", "silence", "tell_error"]

WIDTH = 80
MOST_WIDTH = 100
"""Prose gets hard to read beyond this, however wide the terminal."""


class Closed(Exception):
    """Whoever read our output has gone, as `head` does; nothing to complain about."""


class Console:
    """The two output streams of one run."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, color: str = "auto") -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.color = color

    def note(self, text: str) -> None:
        """Write lines to stderr, unless quiet. The text must be escaped already."""
        if not self.quiet:
            _write_stderr(text)

    def tell(self, text: str) -> None:
        """Write a result to stderr, where stdout belongs to the program that was run."""
        _write_stderr(text.removesuffix("\n"))

    def deliver(self, text: str, path: str | None = None) -> None:
        """Write a result to a file, or to stdout for None and `-`.

        Raises OutputError and Closed.
        """
        if path is None or path == "-":
            _write_stdout(text)
            return
        from envcheck.fingerprint.document import write_atomically

        try:
            write_atomically(path, text)
        except BrokenPipeError as problem:
            raise Closed from problem
        except (OSError, ValueError) as problem:
            raise _not_written(path, problem) from problem

    def allows_color(self, stream: TextIO | None) -> bool:
        """Return whether colours may be used: `--color`, NO_COLOR, FORCE_COLOR, a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR", "0") != "0":
            return True
        return is_terminal(stream) and os.environ.get("TERM") != "dumb" and os.name != "nt"


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def width_of(stream: TextIO | None) -> int:
    """Return the columns to fill: the terminal's within reason, else 80."""
    if not is_terminal(stream) or stream is None:
        return WIDTH
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return WIDTH
    return max(40, min(columns, MOST_WIDTH))


def tell_error(problem: EnvcheckError) -> None:
    """Write an expected failure to stderr: place, problem, hint."""
    place = f"{escape(problem.place)}: " if problem.place else ""
    hint = f"\nhint: {escape_lines(problem.hint)}" if problem.hint else ""
    head = "" if problem.place.startswith("envcheck") else "envcheck: "
    _write_stderr(f"{head}{place}{escape_lines(problem.problem)}{hint}")


def _not_written(path: str, problem: Exception) -> OutputError:
    reason = getattr(problem, "strerror", None) or str(problem)
    if not path:
        return OutputError("the name of the output file is empty", hint="for example: -o out.json")
    if isinstance(problem, IsADirectoryError) or os.path.isdir(path):
        folder = os.path.join(path, "")
        return OutputError(
            "is a folder; a file is needed", place=path, hint=f"for example: -o {folder}out.json"
        )
    hint = "nothing was written; without -o the result goes to stdout"
    return OutputError(f"cannot be written: {reason}", place=path, hint=hint)


def _write_stdout(text: str) -> None:
    stream = sys.stdout
    if stream is None:
        raise OutputError("is closed", place="standard output", hint="write to a file with -o")
    try:
        stream.write(for_encoding(text, stream.encoding or "utf-8"))
        stream.flush()
    except BrokenPipeError as problem:
        silence(stream)
        raise Closed from problem
    except OSError as problem:
        silence(stream)
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"cannot be written: {reason}", place="standard output", hint="write to a file with -o"
        ) from problem


def _write_stderr(text: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    try:
        stream.write(for_encoding(text, stream.encoding or "utf-8") + "\n")
        stream.flush()
    except (OSError, ValueError):
        silence(stream)


def silence(stream: Any) -> None:
    """Point a broken stream at nothing, so that Python's own last flush cannot fail on it."""
    try:
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, stream.fileno())
        os.close(handle)
    except (OSError, ValueError):
        pass
