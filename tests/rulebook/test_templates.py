"""Templates show bindings and nothing else; regular expressions are tame."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envcheck.reasoning.built_ins import REGEX_INPUT_LIMIT, TESTS
from envcheck.rulebook.regexes import mistake_in
from envcheck.rulebook.templates import fill, fill_command, placeholders, stray_brace


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{name} is {n}", "numpy is 2"),
        ("{{name}}", "{name}"),
        ("{path}", "a/b {n}"),
        ("{share} {flag} {far}", "0.5 true http://example.org/x"),
        ("no places", "no places"),
    ],
)
def test_fill(template: str, expected: str) -> None:
    """IRIs show their local name, literals their value; values are never templates."""
    bindings = {
        "name": "pkg:numpy",
        "n": "2",
        "path": '"a/b {n}',
        "share": "0.5",
        "flag": "true",
        "far": "<http://example.org/x>",
    }

    assert fill(template, bindings) == expected


def test_unbound_place() -> None:
    """A missing binding is an error, never an empty text."""
    with pytest.raises(KeyError):
        fill("{other}", {"name": '"x'})


@pytest.mark.parametrize("value", ["1.5.2", "scikit-learn", "a/b_c", "1.0+cu124"])
def test_command(value: str) -> None:
    """Plain words are put in."""
    assert fill_command("pip install '{x}'", {"x": '"' + value}) == f"pip install '{value}'"


@pytest.mark.parametrize("value", ["a", "opencv-python opencv-python-headless"])
def test_command_of_several_words(value: str) -> None:
    """Outside quotes plain words may stand side by side."""
    assert fill_command("pip uninstall {x}", {"x": '"' + value}) == f"pip uninstall {value}"


@pytest.mark.parametrize("value", [">=1.2,<2", "!=1.5.*,~=1.4", ">=3, <4"])
def test_command_with_a_range(value: str) -> None:
    """Between single quotes a range of versions is harmless; outside it would redirect."""
    assert fill_command("pip install 'x{x}'", {"x": '"' + value}) == f"pip install 'x{value}'"
    assert fill_command("pip install x{x}", {"x": '"' + value}) == ""


@pytest.mark.parametrize("template", ["pip install {x}", "pip install '{x}'", "'a' {x} 'b'"])
@pytest.mark.parametrize(
    "value",
    ["1'; rm -rf ~; '", "$(id)", "a; id", "", "`id`", "-rf", "a\nb", "a\tb", "a -x\\", "\u202ea",
     "--index-url=http://x.test", "a|b", "a&b", '"x"'],
)  # fmt: skip
def test_hostile_command(template: str, value: str) -> None:
    """A value that the shell could take for more than words leaves no command at all."""
    assert fill_command(template, {"x": '"' + value}) == ""


def test_no_word_becomes_an_option() -> None:
    """A second word that looks like an option is refused outside quotes."""
    assert fill_command("pip uninstall {x}", {"x": '"a --yes'}) == ""


def test_placeholders() -> None:
    """Each name once, in order; doubled braces are none."""
    assert placeholders("{b} {a} {{c}} {b}") == ["b", "a"]


@pytest.mark.parametrize("template", ["{", "}", "{a.b}", "{0}", "{}", "{a!r}", "{a:>9}", "{{{"])
def test_stray_brace(template: str) -> None:
    """What `str.format` would take as more than a name is refused."""
    assert stray_brace(template)


@given(st.text())
def test_fill_keeps_other_text(text: str) -> None:
    """Text without braces stays as it is."""
    plain = text.replace("{", "").replace("}", "")

    assert fill(plain, {}) == plain


@pytest.mark.parametrize(
    "pattern",
    ["^cp3[0-9]+$", "a|b", "(cu|rocm)[0-9]{2,3}", r"\d+\.\d+", "[^a-z]", "x?", "^$", "a{2}b", ""],
)
def test_tame(pattern: str) -> None:
    """Ordinary patterns pass."""
    assert mistake_in(pattern) == ""


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+", "(a*)*", "((a?)b)*", "(a|b+)+", "a**", "a*?", "*a", "|+", "^*", "(?=a)", "(?!a)",
        "(?P<n>a)", "(?i)a", r"(a)\1", r"\b", "a{1,}b*c+", "(a", "a)", "[a", "[z-a]", "a{2}{3}",
        "a{9,2}", "\\", "[1||]", "[a--b]",
    ],
)  # fmt: skip
def test_wild(pattern: str) -> None:
    """Nested, unbounded, unportable and broken patterns are refused."""
    assert mistake_in(pattern)


@given(st.text("ab()[]{}*+?|^$.\\1,-", max_size=12))
def test_what_passes_compiles(pattern: str) -> None:
    """Whatever the linter lets through is a regular expression."""
    if not mistake_in(pattern):
        re.compile(pattern)


@pytest.mark.bench
def test_worst_tame_pattern() -> None:
    """The worst pattern that passes, on the longest subject, takes a bounded time."""
    pattern = "a*b|a*c"
    assert mistake_in(pattern) == ""

    began = time.process_time()
    assert not TESTS["string:matches"]('"' + "a" * REGEX_INPUT_LIMIT, '"' + pattern)
    assert time.process_time() - began < 2
