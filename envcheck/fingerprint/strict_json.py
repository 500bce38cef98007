"""Parse the JSON of a file that anyone may have written, and say where it is wrong.

Stricter than the format: no key twice in one object, no NaN or Infinity, no number that other
programs could not hold. CPython 3.9, standard library.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from envcheck.errors import InputError
from envcheck.fingerprint.files import MAKE_ONE

__all__ = ["parse_object", "quoted", "type_word"]

_MOST_DIGITS = 20
"""Enough for every 64-bit integer."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")


class _Unusable(Exception):
    """The parser met JSON that no file of ours may hold. `token` is where, as it is spelt."""

    def __init__(self, problem: str, token: str) -> None:
        super().__init__(problem)
        self.token = token


def parse_object(data: bytes, place: str) -> tuple[dict[str, Any], str]:
    """Return the object in `data` and its text; `place` names its origin in messages.

    Raises InputError.
    """
    text = _decode(data, place)
    try:
        document = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except json.JSONDecodeError as problem:
        _raise_malformed(problem, text, place)
    except _Unusable as problem:
        raise InputError(
            str(problem),
            place=_with_line(place, text, problem.token),
            hint="this file was not written by envcheck; capture it again",
        ) from problem
    except RecursionError as problem:
        raise InputError("is nested too deeply", place=place, hint=MAKE_ONE) from problem
    if not isinstance(document, dict):
        raise InputError(f"holds {type_word(document)}, not an object", place=place, hint=MAKE_ONE)
    return document, text


def _decode(data: bytes, place: str) -> str:
    if not data.strip():
        raise InputError("is empty", place=place, hint=MAKE_ONE)
    if data.startswith(_WIDE) or (b"{" in data[:4] and b"\0" in data[:4]):
        raise InputError(
            "is UTF-16 text, not UTF-8",
            place=place,
            hint="a > in PowerShell writes this; use: envcheck capture -o train.json",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(
            f"is not UTF-8 text (byte {problem.start}); a fingerprint is a JSON file",
            place=place,
            hint=MAKE_ONE,
        ) from problem


def _raise_malformed(problem: json.JSONDecodeError, text: str, place: str) -> NoReturn:
    cut = problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated string")
    words = problem.msg[:1].lower() + problem.msg[1:]
    raise InputError(
        f"{'ends too early' if cut else 'is not JSON'}: {words} (column {problem.colno})",
        place=f"{place}:{problem.lineno}",
        hint="the file was cut off; capture it again" if cut else MAKE_ONE,
    ) from problem


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise _Unusable(f"key {quoted(key)} stands twice in one object", f'"{key}"')
            seen.add(key)
    return out


def _no_constant(name: str) -> Any:
    raise _Unusable(f"{name} is no JSON number", name)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Unusable(f"{text[:20]} is larger than any number this format holds", text)
    return value


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _Unusable(f"{text[:20]}\u2026 is larger than any number this format holds", text)
    return int(text)


def _with_line(place: str, text: str, token: str) -> str:
    """Return `place:line` where the line is certain: the token's last place of at most two."""
    found = [match.start() for match in re.finditer(re.escape(token), text)]
    if not 1 <= len(found) <= 2:
        return place
    return f"{place}:{text.count(chr(10), 0, found[-1]) + 1}"


def type_word(value: Any) -> str:
    """Name the JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, word in ((str, "a string"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return word
    return "a number"


def quoted(value: Any) -> str:
    """Return a value as short, printable ASCII for a message."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else text[:57] + '..."'
