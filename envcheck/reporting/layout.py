"""Lines of text: wrapped, indented, labelled, and coloured where that is allowed."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.reporting.style import Style

__all__ = ["Page"]

_CODES = {"error": "1;31", "warning": "1;33", "info": "36", "good": "1;32", "strong": "1"}


class Page:
    """A text under construction. Everything put on it must be escaped already."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._lines: list[str] = []

    def paint(self, text: str, tone: str) -> str:
        """Return `text` in the colour of a tone, or as it is."""
        code = _CODES.get(tone)
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.color and code else text

    def blank(self) -> None:
        """Add an empty line, never two in a row."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def line(self, text: str) -> None:
        """Add one line as it is: a command to copy is never wrapped."""
        self._lines.append(text)

    def prose(self, text: str, *, first: str = "", rest: str | None = None) -> None:
        """Add wrapped text; `first` starts its first line and `rest` the others."""
        indent = " " * len(first) if rest is None else rest
        lines = textwrap.wrap(
            text,
            width=self._style.width,
            initial_indent=first,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        self._lines.extend(lines or [first.rstrip()])

    def headline(self, words: str, tone: str, text: str) -> None:
        """Add wrapped text that begins with coloured words."""
        start = len(self._lines)
        self.prose(f"{words} {text}", rest="  ")
        self._lines[start] = self._lines[start].replace(words, self.paint(words, tone), 1)

    def text(self) -> str:
        """Return everything, ending in one line break."""
        return "\n".join(self._lines).rstrip("\n") + "\n"
