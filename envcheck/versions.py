"""Order, distance and specifiers of versions after PEP 440.

`packaging` decides. Plain releases (`2.4.6`), which are nearly all that a comparison meets, are
answered here without importing it, because that import alone costs as much as half of a whole
`envcheck compare`; a property test holds the two to the same answers.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from envcheck.packaging_library import packaging_module

__all__ = ["DISTANCES", "compare_versions", "distance", "is_prerelease", "satisfies"]

DISTANCES = ("epoch", "major", "minor", "patch", "pre", "post", "local")
"""How far apart two versions are: the first component that differs."""

CALENDAR = frozenset({"certifi", "flatbuffers", "pytz", "regex", "tzdata"})
"""Distributions whose first component is a year; a new year is no new major version."""

_PLAIN = re.compile(r"\d{1,9}(?:\.\d{1,9})*\Z", re.ASCII)
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|~=|<|>)\s*(\d{1,9}(?:\.\d{1,9})*)(\.\*)?\s*\Z", re.ASCII)

_Release = tuple[int, ...]


@lru_cache(maxsize=8192)
def _release(text: str) -> _Release | None:
    """Return a plain release without trailing zeros, or None when it is not one."""
    if not _PLAIN.match(text):
        return None
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@lru_cache(maxsize=8192)
def _order(text: str) -> tuple[_Release, float] | None:
    """Return what orders plain releases and their `.devN`, or None for any other version."""
    head, dev, number = text.partition(".dev")
    release = _release(head)
    if release is None or not dev:
        return None if release is None else (release, math.inf)
    known = number.isascii() and number.isdecimal() and len(number) < 10
    return (release, int(number)) if known else None


@lru_cache(maxsize=1024)
def _version(text: str) -> Any:
    """Return the `packaging` version, or None when the text is none."""
    library = packaging_module("version")
    if library is None:
        return None
    try:
        return library.Version(text)
    except ValueError:
        return None


def compare_versions(left: str, right: str) -> int | None:
    """Return -1, 0 or 1 as `left` is older, equal or newer; None when one is no version."""
    if left == right:
        return 0
    a, b = _order(left), _order(right)
    if a is not None and b is not None:
        return (a > b) - (a < b)
    x, y = _version(left), _version(right)
    if x is None or y is None:
        return None
    return int(x > y) - int(x < y)


def distance(left: str, right: str, name: str = "") -> str | None:
    """Return the first component in which two versions differ, one of `DISTANCES`.

    For calendar versions (by `name`) the year is the minor component. A release before 1.0 gets
    no special treatment: taking 0.59 to 0.60 for a major change called every numba, uvicorn and
    safetensors release a break. None when they are equal or one is no version.
    """
    x, y = _parts(left), _parts(right)
    if x is None or y is None:
        return None
    if x[0] != y[0]:
        return "epoch"
    a, b = _padded(x[1], y[1])
    index = next((i for i, pair in enumerate(zip(a, b, strict=True)) if pair[0] != pair[1]), None)
    if index is not None:
        return _component(index, calendar=name in CALENDAR)
    for level, i in (("pre", 2), ("post", 3), ("local", 4)):
        if x[i] != y[i]:
            return level
    return None


def _component(index: int, *, calendar: bool) -> str:
    if calendar:
        return "minor" if index == 0 else "patch"
    return ("major", "minor", "patch")[min(index, 2)]


def _parts(text: str) -> tuple[int, _Release, Any, Any, Any] | None:
    """Return epoch, release, pre and development part, post part, local label."""
    plain = _release(text)
    if plain is not None:
        return 0, plain, (None, None), None, None
    found = _version(text)
    if found is None:
        return None
    return found.epoch, found.release, (found.pre, found.dev), found.post, found.local


def _padded(a: _Release, b: _Release) -> tuple[_Release, _Release]:
    size = max(len(a), len(b), 1)
    return a + (0,) * (size - len(a)), b + (0,) * (size - len(b))


def is_prerelease(text: str) -> bool:
    """Return whether a version is a pre-release or development release."""
    if _release(text) is not None:
        return False
    found = _version(text)
    return bool(found is not None and found.is_prerelease)


@lru_cache(maxsize=8192)
def satisfies(version: str, specifier: str) -> bool | None:
    """Return whether a version meets a specifier such as `>=1.2,<2`; None when undecidable.

    Pre-releases that are installed count, as `pip check` counts them.
    """
    if not specifier:
        return True
    plain = _release(version)
    if plain is not None:
        answers = [_plain_clause(plain, version, clause) for clause in specifier.split(",")]
        if None not in answers:
            return all(answers)
    return _packaging_satisfies(version, specifier)


def _plain_clause(plain: _Release, version: str, clause: str) -> bool | None:
    found = _CLAUSE.match(clause)
    if found is None:
        return None
    operator, text, star = found.groups()
    wanted = _release(text)
    if wanted is None:
        return None
    if star or operator == "~=":
        return _prefix_clause(version, operator, text, plain, wanted)
    return {
        "==": plain == wanted,
        "!=": plain != wanted,
        ">=": plain >= wanted,
        "<=": plain <= wanted,
        ">": plain > wanted,
        "<": plain < wanted,
    }[operator]


def _prefix_clause(
    version: str, operator: str, text: str, plain: _Release, wanted: _Release
) -> bool | None:
    """Decide `==1.2.*`, `!=1.2.*` and `~=1.2.3`; anything else is left to `packaging`."""
    head = [int(part) for part in text.split(".")]
    if operator == "~=":
        if len(head) < 2:
            return None
        head = head[:-1]
    elif operator not in ("==", "!="):
        return None
    parts = [int(part) for part in version.split(".")]
    parts += [0] * (len(head) - len(parts))
    same = parts[: len(head)] == head
    if operator == "~=":
        return same and plain >= wanted
    return same if operator == "==" else not same


def _packaging_satisfies(version: str, specifier: str) -> bool | None:
    library = packaging_module("specifiers")
    if library is None or _version(version) is None:
        return None
    try:
        return bool(library.SpecifierSet(specifier).contains(version, prereleases=True))
    except ValueError:
        return None
