"""What is remembered of the values of a pickle: enough to follow names and array sizes, no more.

Strings, integers, short tuples, references to globals and a few calls of them are kept; every
other value is None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from envcheck.artefacts.reading import Unreadable

__all__ = ["LONGEST_TEXT", "Built", "Global", "Memo", "is_from"]

LONGEST_TEXT = 128
"""Longer strings are not kept; no module or attribute that can be imported is that long."""
_MOST_REMEMBERED = 500_000
_MOST_OUT_OF_ORDER = 100_000


class Global(NamedTuple):
    """A reference to `module.name`."""

    module: str
    name: str


class Built:
    """An object made by calling a global; `state` is what BUILD gave it."""

    __slots__ = ("args", "cls", "state")

    def __init__(self, cls: Global, args: Any) -> None:
        self.cls = cls
        self.args = args
        self.state: Any = None


def is_from(token: Any, module: str, name: str) -> bool:
    """Return whether a token is the global `name` of a module or of one inside it."""
    return (
        isinstance(token, Global)
        and token.name == name
        and (token.module == module or token.module.startswith(module + "."))
    )


class Memo:
    """The memo of an unpickler, holding only what may matter later."""

    def __init__(self) -> None:
        self._kept: dict[int, Any] = {}
        self._dense = 0
        self._odd: set[int] = set()

    def add(self, token: Any) -> None:
        """Do what MEMOIZE does: store under the number of entries so far."""
        self.put(self._dense + len(self._odd), token)

    def put(self, index: int, token: Any) -> None:
        """Store a token under an index."""
        if index == self._dense:
            self._dense += 1
            while self._dense in self._odd:
                self._odd.remove(self._dense)
                self._dense += 1
        elif index > self._dense:
            self._odd.add(index)
            if len(self._odd) > _MOST_OUT_OF_ORDER:
                raise Unreadable("stores its values under numbers that no pickler uses")
        if _matters(token) and (index in self._kept or len(self._kept) < _MOST_REMEMBERED):
            self._kept[index] = token
        else:
            self._kept.pop(index, None)

    def get(self, index: int) -> Any:
        """Return the token stored under an index, or None where it was not kept."""
        return self._kept.get(index)


def _matters(token: Any) -> bool:
    """Return whether a later reference to the token could change what is found."""
    if isinstance(token, tuple) and not isinstance(token, Global):
        return all(isinstance(part, int) for part in token)
    return isinstance(token, (str, Global, Built))
