"""Write the training log while the program trains, so that a kill loses little.

The file is replaced as a whole each time, and so rarely that writing costs next to nothing.
"""

from __future__ import annotations

import json
import math
import os
import time
from typing import Any

__all__ = ["LogFile", "clean", "log_text"]

_PAUSE = 5.0
"""Least seconds between two writings while the program runs."""

_SHARE = 0.005
"""Most of the time that may go into writing."""

_INFINITIES = {math.inf: "Infinity", -math.inf: "-Infinity"}


class LogFile:
    """The file of one training log."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._affordable = 0.0
        self._due = 0.0

    def is_due(self, *, ended: bool = False) -> bool:
        """Return whether it is time to write again; sooner where a fit has just `ended`."""
        return time.monotonic() >= (self._affordable if ended else self._due)

    def write(self, document: dict[str, Any], *, begun: float | None = None) -> None:
        """Replace the file by this document. Raises OSError.

        `begun` is when its making began, on the monotonic clock: what that cost counts too.
        """
        begun = time.monotonic() if begun is None else begun
        text = log_text(document)
        temporary = f"{self.path}.{os.getpid()}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            os.replace(temporary, self.path)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise
        ended = time.monotonic()
        self._affordable = ended + (ended - begun) / _SHARE
        self._due = max(self._affordable, ended + _PAUSE)


def log_text(document: dict[str, Any]) -> str:
    """Return a training log as the text of its file."""
    return json.dumps(clean(document), sort_keys=True, allow_nan=False) + "\n"


def clean(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN and infinities as words, arrays as lists."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _clean_float(float(value))
    if isinstance(value, dict):
        return {str(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return clean(value.tolist())
    return str(value)


def _clean_float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else _INFINITIES[value]
