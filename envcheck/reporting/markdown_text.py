"""Text from outside as Markdown that shows it and does nothing else (GitHub's dialect)."""

from __future__ import annotations

import re

from envcheck.reporting.escape import escape

__all__ = ["cell", "code", "fenced", "inline"]

_ACTIVE = re.compile(r"[\\`*_\[\]~|!]|(?<!\w)[#:]|(?<=\w):(?=//)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "$": "&#36;"}
_AT_START = re.compile(r"^()([-+=])|^(\d+)([.)])(?=\s|$)")
_WWW = re.compile(r"\bwww\.", re.IGNORECASE)
_MARKS_A_LINE = re.compile(r"`{3,}")


def inline(text: str) -> str:
    """Return `text` on one line, with no mark-up, link, mention, HTML or entity in it.

    An entity stands for each character that a backslash would not disarm everywhere.
    """
    safe = "".join(_ENTITIES.get(char, char) for char in escape(text))
    safe = _WWW.sub(lambda found: found[0][:-1] + "&#46;", safe)
    safe = _ACTIVE.sub(_disarm, safe)
    return _AT_START.sub(r"\1\3\\\2\4", safe)


def _disarm(found: re.Match[str]) -> str:
    char = found[0]
    return f"&#{ord(char)};" if char in "|:#" else f"\\{char}"


def cell(text: str) -> str:
    """Return `text` for a cell of a table; a non-breaking blank for none."""
    return inline(text) or "&nbsp;"


def code(text: str) -> str:
    """Return `text` in the typeface of code."""
    return f"<code>{inline(text)}</code>" if text else ""


def fenced(text: str, language: str = "") -> str:
    """Return lines as a block of code, whatever back-quotes they hold."""
    lines = [escape(line) for line in text.split("\n")]
    longest = max((len(run) for run in _MARKS_A_LINE.findall("\n".join(lines))), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([fence + language, *lines, fence])
