"""The command line. This package alone prints and sets exit codes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises.

    Python itself ends with 1 when an exception is not caught, and 1 is a verdict here. So
    everything is caught, even a broken installation.
    """
    try:
        from envcheck.cli.entry import run
    except Exception as problem:  # noqa: BLE001 - see above
        text = f"envcheck: cannot start: {type(problem).__name__}: {problem}\n"
        if sys.stderr is not None:
            sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        return 4
    return run(sys.argv[1:] if arguments is None else list(arguments))
