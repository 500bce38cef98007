"""Make text from outside safe to show. CPython 3.9, standard library.

Names, versions, reasons and paths come from files that anyone may have written. A terminal
obeys escape sequences, and control, bidirectional and zero-width characters make one text look
like another. Every such text passes through `escape` on its way to a screen.
"""

from __future__ import annotations

__all__ = ["escape", "escape_lines", "for_encoding", "shorten"]

_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that count as printable and show nothing."""
_PLAIN = {
    "\u2192": "->", "\u2190": "<-", "\u2013": "-", "\u2014": "-", "\u2026": "...", "\u201c": '"',
    "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u2265": ">=", "\u2264": "<=", "\u2260": "!=",
    "\u00d7": "x", "\u00b7": "-", "\u2022": "*", "\u2009": " ", "\u00a0": " ",
}  # fmt: skip


def escape(text: str) -> str:
    r"""Return `text` on one line with everything invisible spelt out, as `\x1b` or `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_visible(char) else _spell(char) for char in text)


def _is_visible(char: str) -> bool:
    return (
        char.isprintable()
        and char not in _BLANK_LETTERS
        and not "\ufe00" <= char <= "\ufe0f"
        and not "\U000e0100" <= char <= "\U000e01ef"
    )


def _spell(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if short:
        return short
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape_lines(text: str) -> str:
    """Return `text` with its own line breaks kept and all else escaped."""
    return "\n".join(escape(line) for line in text.split("\n"))


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, saying how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\u2026 ({len(text) - limit} more)"


def for_encoding(text: str, encoding: str) -> str:
    """Return `text` with what `encoding` lacks in plain letters or, failing that, escaped."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        pass
    except LookupError:
        encoding = "ascii"
    else:
        return text
    for fancy, plain in _PLAIN.items():
        if fancy in text and not _encodes(fancy, encoding):
            text = text.replace(fancy, plain)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
