"""Mistakes in one comparison: it cannot change, or its constant has the wrong type."""

from __future__ import annotations

from envcheck.reasoning.terms import is_string, is_variable, number
from envcheck.rulebook.regexes import mistake_in

__all__ = ["mistake_in_comparison"]


def mistake_in_comparison(left: str, built_in: str, right: str) -> tuple[str, str] | None:
    """Return message and hint, or None."""
    constants = [term for term in (left, right) if not is_variable(term)]
    if len(constants) == 2 or left == right:
        message = f"this can never change: {built_in} compares constants"
        if not constants:
            message = f"this can never change: {built_in} compares {left} with itself"
        return message, "compare a variable that the body binds with something else"
    if built_in.startswith("math:"):
        return _wrong_type(constants, built_in, number_wanted=True)
    if built_in == "string:matches":
        return _regex(right)
    if built_in.startswith("string:"):
        return _wrong_type(constants, built_in, number_wanted=False)
    return None


def _wrong_type(
    constants: list[str], built_in: str, *, number_wanted: bool
) -> tuple[str, str] | None:
    for term in constants:
        if number_wanted and number(term) is None:
            return f"{built_in} needs numbers", 'numbers are typed: write 5, not "5"'
        if not number_wanted and not is_string(term):
            return f"{built_in} needs strings", 'write "5", not 5'
    return None


def _regex(pattern: str) -> tuple[str, str] | None:
    if not is_string(pattern):
        return "string:matches needs a constant pattern", '?x string:matches "^cp3[0-9]+$"'
    problem = mistake_in(pattern[1:])
    if problem:
        hint = "literals, classes, groups, | ^ $ ? * + {m,n}; nothing repeated twice over"
        return f"bad regular expression: {problem}", hint
    return None
