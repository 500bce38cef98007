"""Environment markers of the usual shape, decided without importing `packaging`.

That import costs as much as a fifth of a whole `envcheck compare`. What is read here: plain
comparisons of a variable with a literal, joined by `and` and `or`, with parentheses. Anything
else is left to `packaging`, and a property test holds the two to the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from envcheck.versions import compare_versions

__all__ = ["decide"]

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[()]|\b(?:and|or)\b)"
    r"|(?P<variable>[a-z_]+)\s*(?P<operator>==|!=|<=|>=|<|>)\s*"
    r"(?:\"(?P<double>[^\"'\\]*)\"|'(?P<single>[^\"'\\]*)'))\s*"
)
_VERSIONS = frozenset({"python_version", "python_full_version"})
_TEXTS = frozenset(
    {
        "implementation_name", "os_name", "platform_machine", "platform_python_implementation",
        "platform_system", "sys_platform",
    }
)  # fmt: skip
_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9})*", re.ASCII)
_WORD = re.compile(r"[A-Za-uw-z_][A-Za-z0-9_]*", re.ASCII)
"""A literal that is surely no version, which would be compared as one."""
_MOST_OPEN = 50


def decide(marker: str, environment: Mapping[str, str]) -> bool | None:
    """Return whether a marker holds, or None for one that is not of the usual shape."""
    outer: list[tuple[bool, bool | None]] = []
    either, both = False, None  # what `or` has joined so far, and the `and` chain at its end
    wants_operand = True
    for part in _parts(marker, environment):
        if part is None or wants_operand == (part in ("and", "or", ")")):
            return None
        if part == "(":
            if len(outer) == _MOST_OPEN:
                return None
            outer.append((either, both))
            either, both = False, None
        elif part == "or":
            either, both, wants_operand = either or bool(both), None, True
        elif part == "and":
            wants_operand = True
        else:
            holds = part is True
            if part == ")":
                if not outer:
                    return None
                holds = either or bool(both)
                either, both = outer.pop()
            both = holds if both is None else both and holds
            wants_operand = False
    return None if wants_operand or outer else either or bool(both)


def _parts(marker: str, environment: Mapping[str, str]) -> Iterator[str | bool | None]:
    """Yield signs and answers of comparisons; None, and no more, at what is not understood."""
    position = 0
    while position < len(marker):
        found = _TOKEN.match(marker, position)
        if found is None:
            yield None
            return
        position = found.end()
        sign = found["sign"]
        if sign:
            yield sign
            continue
        value = found["double"] if found["single"] is None else found["single"]
        yield _compare(found["variable"], found["operator"], value, environment)


def _compare(
    variable: str, operator: str, value: str, environment: Mapping[str, str]
) -> bool | None:
    actual = environment.get(variable)
    if actual is None:
        return None
    if variable in _VERSIONS and _RELEASE.fullmatch(actual) and _RELEASE.fullmatch(value):
        order = compare_versions(actual, value)
        if order is None:
            return None
        return {
            "==": order == 0, "!=": order != 0, "<": order < 0,
            "<=": order <= 0, ">": order > 0, ">=": order >= 0,
        }[operator]  # fmt: skip
    plain = variable in _TEXTS or (variable == "extra" and not actual)
    if plain and operator in ("==", "!=") and _WORD.fullmatch(value):
        return (actual == value) == (operator == "==")
    return None
