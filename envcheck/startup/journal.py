"""Log lines of a start: one JSON object per line. CPython 3.9, standard library."""

from __future__ import annotations

import json
import time
from typing import Any, Callable

__all__ = ["Journal"]

_LONGEST_TEXT = 300
_MOST_ITEMS = 20
_LEVELS = ("info", "warning", "error")


class Journal:
    """Writes events as lines to `tell`; `quiet` leaves out those of level info."""

    def __init__(self, tell: Callable[[str], None], *, quiet: bool = False) -> None:
        self._tell = tell
        self._quiet = quiet

    def write(self, level: str, event: str, **fields: Any) -> None:
        """Write one event: `ts`, `level`, `event`, then the fields that are not None.

        Lines are ASCII with escapes, so no value can break out of its line.
        """
        if level not in _LEVELS:
            raise ValueError(level)
        if self._quiet and level == "info":
            return
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        line = {"ts": f"{stamp}.{int(now % 1 * 1000):03d}Z", "level": level, "event": event}
        line.update((name, _short(value)) for name, value in fields.items() if value is not None)
        self._tell(json.dumps(line, ensure_ascii=True, default=str))

    def some(self, items: list[Any]) -> list[Any]:
        """Return the first items, as many as a log should have."""
        return items[:_MOST_ITEMS]


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
