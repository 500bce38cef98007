"""Where the facts of a fingerprint stand in the file that it was read from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from envcheck.errors import InputError
from envcheck.fingerprint import Fingerprint
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded

__all__ = ["lines_of"]

_KEY = re.compile(r'\s*"((?:[^"\\]|\\.)+)"\s*:')


def lines_of(fingerprint: Fingerprint) -> Mapping[str, int]:
    """Return the line of each fact, counted from 1; empty when there is no file to point into."""
    if not fingerprint.place or not os.path.isfile(fingerprint.place):
        return {}
    try:
        text = read_bounded(fingerprint.place, SIZE_LIMIT).decode("utf-8", "replace")
    except InputError:
        return {}
    out: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _KEY.match(line)
        if found is not None and found[1] in fingerprint.facts:
            out.setdefault(found[1], number)
    return out
