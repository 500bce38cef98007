"""Nothing invisible reaches a screen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envcheck.reporting.escape import escape, escape_lines, for_encoding, shorten
from tests.strategies import hostile_text

INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(hostile_text() | st.text())
def test_escape_leaves_nothing_invisible(text: str) -> None:
    """No control, bidirectional, zero-width, surrogate or line-breaking character is left."""
    safe = escape(text)

    assert not {unicodedata.category(char) for char in safe} & INVISIBLE
    assert len(safe.splitlines()) <= 1
    assert escape(safe) == safe


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("numpy 2.0 (caf\u00e9, \u4e2d\u6587)", "numpy 2.0 (caf\u00e9, \u4e2d\u6587)"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
        ("\u202eevil\u2069\u200f\u061c", r"\u202eevil\u2069\u200f\u061c"),
        ("a\u200bb\ufeffc\u2060d\u00ade", r"a\u200bb\ufeffc\u2060d\xade"),
        ("\ud800 \U000e0041 \U000e0100 \ufe0f", r"\ud800 \U000e0041 \U000e0100 \ufe0f"),
        ("\u3164\u2800\u115f", r"\u3164\u2800\u115f"),
    ],
)
def test_escape(text: str, safe: str) -> None:
    """Visible text stays; everything else is spelt out."""
    assert escape(text) == safe


def test_escape_lines() -> None:
    """Line breaks of our own messages stay line breaks."""
    assert escape_lines("a\nb\x1b") == "a\nb\\x1b"


@given(hostile_text())
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", "no-such-encoding"])
def test_every_encoding_is_served(encoding: str, text: str) -> None:
    """The text can be encoded, whatever the stream's encoding is."""
    shown = for_encoding(escape(text) + " \u2192 \u2026", encoding)

    assert shown.encode("ascii" if encoding == "no-such-encoding" else encoding)


def test_typography_becomes_plain() -> None:
    """Arrows and dots turn into letters; foreign letters are spelt out."""
    assert for_encoding("1 \u2192 2 \u2026 \u00d7 \u4e2d", "ascii") == r"1 -> 2 ... x \u4e2d"
    assert for_encoding("1 \u2192 2 \u00d7", "latin-1") == "1 -> 2 \u00d7"
    assert for_encoding("1 \u2192 2", "utf-8") == "1 \u2192 2"


def test_shorten() -> None:
    """What was left out is counted."""
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdef", 3) == "abc\u2026 (3 more)"
