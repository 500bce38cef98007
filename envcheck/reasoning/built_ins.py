"""The built-ins of the profile: what each one tests on two terms.

They follow EYE where its versions agree (tests/reasoning/programs.py holds the programs):
log compares terms, math compares values of typed numbers and fails on anything else, string
compares strings and fails on anything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne

from envcheck.reasoning.terms import number

__all__ = ["IN", "MEMBER", "NOT_INCLUDES", "REGEX_INPUT_LIMIT", "TESTS", "Test"]

Test = Callable[[str, str], bool]

IN = "list:in"
MEMBER = "list:member"
NOT_INCLUDES = "log:notIncludes"

REGEX_INPUT_LIMIT = 512
"""`string:matches` is false for a longer subject, which bounds the time of any pattern."""


def _math(compare: Callable[[float, float], bool]) -> Test:
    def test(left: str, right: str) -> bool:
        a, b = number(left), number(right)
        return a is not None and b is not None and compare(a, b)

    return test


def _string(compare: Callable[[str, str], bool]) -> Test:
    def test(left: str, right: str) -> bool:
        return left[0] == '"' == right[0] and compare(left[1:], right[1:])

    return test


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _matches(text: str, pattern: str) -> bool:
    return len(text) <= REGEX_INPUT_LIMIT and _pattern(pattern).search(text) is not None


TESTS: dict[str, Test] = {
    "log:equalTo": eq,
    "log:notEqualTo": ne,
    "math:equalTo": _math(eq),
    "math:notEqualTo": _math(ne),
    "math:greaterThan": _math(gt),
    "math:lessThan": _math(lt),
    "math:notLessThan": _math(ge),
    "math:notGreaterThan": _math(le),
    "string:startsWith": _string(str.startswith),
    "string:endsWith": _string(str.endswith),
    "string:contains": _string(str.__contains__),
    "string:matches": _string(_matches),
    "string:equalIgnoringCase": _string(lambda a, b: a.lower() == b.lower()),
    "string:lessThan": _string(lt),
    "string:greaterThan": _string(gt),
}
"""The test of each built-in that compares two bound terms."""
