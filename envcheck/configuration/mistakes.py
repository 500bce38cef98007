"""Mistakes in configuration files, collected so that one run shows them all."""

from __future__ import annotations

from collections.abc import Iterable

from envcheck.errors import ConfigError

__all__ = ["Mistakes", "did_you_mean"]


class Mistakes:
    """The mistakes found so far, each with its place and a hint."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, str], str] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, place: str, message: str, hint: str = "") -> None:
        """Note a mistake at `FILE:LINE`, or at a file as a whole."""
        file, colon, line = place.rpartition(":")
        where = (file, int(line)) if colon and line.isdigit() else (place, 0)
        self._found.setdefault((*where, message), hint)

    def raise_if_any(self) -> None:
        """Raise one ConfigError that tells every mistake, by file and line."""
        told = []
        for (file, line, message), hint in sorted(self._found.items()):
            place = f"{file}:{line}" if line else file
            told.append((place, message, hint))
        if len(told) == 1:
            place, message, hint = told[0]
            raise ConfigError(message, place=place, hint=hint)
        if told:
            listed = "\n".join(
                f"{place}: {message}" + (f"\n  hint: {hint}" if hint else "")
                for place, message, hint in told
            )
            raise ConfigError(f"{len(told)} mistakes in the configuration\n{listed}")


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a hint with the known word nearest to `word`, or another hint."""
    from difflib import get_close_matches

    close = get_close_matches(word, sorted(known), 1, 0.6)
    return f"did you mean {close[0]}?" if close else otherwise
