"""The command line. This package alone prints and sets exit codes."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_ALLOCATIONS = 200_000
"""How many more objects there must be before Python looks for cycles among them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises.

    Python itself ends with 1 when an exception is not caught, and 1 is a verdict here. So
    everything is caught, even a broken installation.
    """
    whole = arguments is None
    if whole:
        # A process of a fraction of a second: looking for cycles would only find what it needs.
        gc.set_threshold(_ALLOCATIONS)
    try:
        from envcheck.cli.entry import run
    except Exception as problem:  # noqa: BLE001 - see above
        text = f"envcheck: cannot start: {type(problem).__name__}: {problem}\n"
        if sys.stderr is not None:
            sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        return 4
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    if whole:
        gc.freeze()  # what is left goes with the process
    return code
