"""From a node of the candidate to the layer in whose name scope it lies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["layer_in"]

_COUNTER = re.compile(r"_\d+$")
_SPLIT = re.compile(r"[/;:|]")


def layer_in(name: str, paths: Iterable[str], others: Iterable[str] = ()) -> str:
    """Return the path of the layer that a node's name points to, or nothing.

    The converter writes `model_1/layer_1/Op`. When a layer was traced before, its scope has a
    counter, and layers' own names may end in one too; whether counters were added is seen from
    the names of `others`, the candidate's nodes.
    """
    paths = list(dict.fromkeys(paths))
    counted = _is_counted(paths, others)
    parts = [part for part in _SPLIT.split(name) if part]
    best, score = "", 0
    for path in paths:
        wanted = path.split("/")
        for start in range(len(parts) - len(wanted) + 1):
            window = parts[start : start + len(wanted)]
            if all(word in _readings(part) for word, part in zip(wanted, window, strict=True)):
                plain = sum(word == part for word, part in zip(wanted, window, strict=True))
                found = 10 * len(wanted) + (-plain if counted else plain)
                if found > score:
                    best, score = path, found
    return best


def _readings(part: str) -> tuple[str, str]:
    return part, _COUNTER.sub("", part)


def _is_counted(paths: list[str], names: Iterable[str]) -> bool:
    """Return whether the names make more sense with a counter taken off each scope."""
    seen = {part for name in names for part in _SPLIT.split(name) if part}
    shorter = {_COUNTER.sub("", part) for part in seen if _COUNTER.search(part)}
    own = {path.rpartition("/")[2] for path in paths}
    return len(own & shorter) > len(own & seen)
