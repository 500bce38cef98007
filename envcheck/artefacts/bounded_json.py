"""JSON of unknown origin, parsed within limits."""

from __future__ import annotations

import json
from typing import Any

from envcheck.artefacts.reading import Unreadable

__all__ = ["parse"]

_LONGEST_NUMBER = 400


def parse(data: bytes, what: str) -> Any:
    """Return the value of a JSON text. Raises Unreadable naming `what`."""
    try:
        return json.loads(data, parse_int=_integer)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"{what} is not JSON that can be read") from problem


def _integer(text: str) -> int:
    """Return an integer; converting millions of digits would take minutes."""
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number with too many digits")
    return int(text)
