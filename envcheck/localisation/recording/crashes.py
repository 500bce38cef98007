"""An exception that ended the program, as evidence for the log."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["describe_exception"]

_LENGTH = 300


def describe_exception(problem: BaseException) -> dict[str, Any]:
    """Return type, message and the user's lines of an exception, innermost line first."""
    from envcheck.localisation.recording.tracebacks import user_lines
    from envcheck.probing.redaction import Redactor

    message = Redactor(os.environ).text(str(problem))
    sites = user_lines(problem)
    return {
        "type": type(problem).__name__,
        "message": message[:_LENGTH],
        "site": sites[0] if sites else None,
        "chain": sites[:5],
    }
