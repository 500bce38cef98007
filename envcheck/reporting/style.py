"""How a report is to look, for formats that can look different ways."""

from __future__ import annotations

from envcheck.records import record

__all__ = ["PLAIN", "Style"]


@record(kw_only=True)
class Style:
    """Columns to fill, whether colour codes are allowed, and whether to show everything."""

    width: int = 80
    color: bool = False
    verbose: bool = False


PLAIN = Style()
