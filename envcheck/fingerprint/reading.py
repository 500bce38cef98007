"""Read a fingerprint and say precisely what is wrong with one that cannot be used.

The checks are hand-written, because reading stands on the path of every comparison. CPython
3.9, standard library.
"""

from __future__ import annotations

from typing import Any

from envcheck.catalogue import declaration
from envcheck.errors import InputError, SchemaError
from envcheck.facts import OK, STATES, Fact, Facts
from envcheck.fingerprint.document import ROLES, SCHEMA, Fingerprint
from envcheck.fingerprint.files import MAKE_ONE, SIZE_LIMIT, read_bounded, read_stdin
from envcheck.fingerprint.strict_json import parse_object, quoted, type_word

__all__ = ["SIZE_LIMIT", "parse_fingerprint", "read_bounded", "read_fingerprint"]

_FAMILY = "envcheck.fingerprint/"
_MAX_SHOWN = 5
_PLAIN = {"string": str, "boolean": bool, "integer": int}
_STRINGS = frozenset((str,))
_MOST_LEVELS = 20
"""Levels of lists and objects in one value; ours have three."""


def read_fingerprint(path: str) -> Fingerprint:
    """Return the fingerprint in a file, or on standard input for `-`.

    Raises InputError (unreadable, too large, not JSON, wrong shape) and SchemaError.
    """
    place = "standard input" if path == "-" else path
    data = read_stdin() if path == "-" else read_bounded(path, SIZE_LIMIT)
    return parse_fingerprint(data, place)


def parse_fingerprint(data: bytes, place: str) -> Fingerprint:
    """Return the fingerprint held in `data`; `place` names its origin in messages.

    Raises InputError and SchemaError.
    """
    document, text = parse_object(data, place)
    _check_schema(document, place)
    envelope = document.get("envelope", {})
    problems = _envelope_problems(envelope)
    facts, fact_problems = _read_facts(document.get("facts"))
    problems += fact_problems
    if problems:
        raise InputError(_joined(problems), place=place, hint="see: envcheck schema fingerprint")
    return Fingerprint(facts, envelope, document["schema"], place, text)


def _check_schema(document: dict[str, Any], place: str) -> None:
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith(_FAMILY):
        found = f'its "schema" is {quoted(schema)}' if "schema" in document else 'no "schema"'
        raise SchemaError(f"is not a fingerprint: {found}", place=place, hint=MAKE_ONE)
    major = schema[len(_FAMILY) :].split(".", 1)[0]
    if major == SCHEMA[len(_FAMILY) :]:
        return
    ours = SCHEMA[len(_FAMILY) :]
    newer = major.isascii() and major.isdecimal() and (len(major), major) > (len(ours), ours)
    raise SchemaError(
        f"has schema {quoted(schema)}; this envcheck reads {SCHEMA}",
        place=place,
        hint="update envcheck: python -m pip install --upgrade ml-envcheck" if newer else MAKE_ONE,
    )


def _envelope_problems(envelope: Any) -> list[str]:
    if not isinstance(envelope, dict):
        return [f"envelope: {type_word(envelope)}, not an object"]
    problems = []
    if _too_deep(envelope, _MOST_LEVELS):
        problems.append(f"envelope: nested deeper than {_MOST_LEVELS} levels")
    problems += [
        f"envelope.{name}: {type_word(envelope[name])}, not a string"
        for name in ("created", "role", "tool")
        if not isinstance(envelope.get(name, ""), str)
    ]
    role = envelope.get("role")
    if isinstance(role, str) and role not in ("", *ROLES):
        problems.append(f"envelope.role: {quoted(role)} is neither train nor deploy")
    return problems


def _read_facts(data: Any) -> tuple[Facts, list[str]]:
    if not isinstance(data, dict):
        found = 'no "facts"' if data is None else f"facts: {type_word(data)}, not an object"
        return {}, [found]
    facts: Facts = {}
    problems: list[str] = []
    for key, entry in data.items():
        problem = _fact_problem(key, entry)
        if problem is None:
            facts[key] = _fact(entry)
        else:
            problems.append(f"facts[{quoted(key)}]{problem}")
    return facts, problems


def _fact(entry: dict[str, Any]) -> Fact:
    value = entry["value"] if entry["state"] == OK else None
    return Fact(entry["state"], value, entry.get("reason", ""), entry.get("source", ""))


def _fact_problem(key: str, entry: Any) -> str | None:
    """Return what is wrong with one fact, starting with the rest of its path, or None."""
    if not isinstance(entry, dict):
        return f": {type_word(entry)}, not an object"
    if "." not in key or not key.isprintable():
        return ": a key is group.name, in printable characters"
    state = entry.get("state")
    if state not in STATES:
        return f".state: {quoted(state)} is none of {', '.join(STATES)}"
    for name in ("reason", "source"):
        if not isinstance(entry.get(name, ""), str):
            return f".{name}: {type_word(entry[name])}, not a string"
    return _value_problem(key, entry) if state == OK else None


def _value_problem(key: str, entry: dict[str, Any]) -> str | None:
    if "value" not in entry:
        return ': state "ok" without a value'
    known = declaration(key)
    if known is not None and _surely_fits(entry["value"], known.type, known.fields):
        return None
    if _too_deep(entry["value"], _MOST_LEVELS):
        return f".value: nested deeper than {_MOST_LEVELS} levels"
    if known is None:
        return None
    return _type_problem(entry["value"], known.type, known.fields, ".value") or None


def _surely_fits(value: Any, kind: str, fields: Any) -> bool:
    """Return whether a value is plainly of its type; else the exact checks have to tell.

    This is asked for every fact, and nearly all are objects of strings and lists of strings.
    """
    if kind != "object":
        return type(value) is _PLAIN.get(kind)
    if type(value) is not dict or not fields:
        return False
    for name, item in value.items():
        declared = fields.get(name)
        if declared is None:
            return False
        kind = declared[0]
        if kind == "list[string]":
            if type(item) is not list or not _STRINGS.issuperset(map(type, item)):
                return False
        elif kind.__class__ is not str or type(item) is not _PLAIN.get(kind):
            return False
    return True


def _too_deep(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, list):
        return False
    return levels == 0 or any(
        isinstance(item, (dict, list)) and _too_deep(item, levels - 1) for item in value
    )


def _type_problem(value: Any, kind: str, fields: Any, path: str) -> str:
    """Return the path and the problem of a value that is not of its declared type, or ''."""
    if kind == "string":
        return "" if isinstance(value, str) else f"{path}: {type_word(value)}, not a string"
    if kind == "boolean":
        return "" if isinstance(value, bool) else f"{path}: {type_word(value)}, not true or false"
    if kind == "integer":
        good = isinstance(value, int) and not isinstance(value, bool)
        return "" if good else f"{path}: {type_word(value)}, not an integer"
    if kind == "number":
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if good else f"{path}: {type_word(value)}, not a number"
    if kind.startswith("list["):
        return _list_problem(value, kind[5:-1], fields, path)
    if not isinstance(value, dict):
        return f"{path}: {type_word(value)}, not an object"
    for name, inner in (fields or {}).items():
        if name in value:
            problem = _field_problem(value[name], inner[0], f"{path}.{name}")
            if problem:
                return problem
    return ""


def _field_problem(value: Any, kind: Any, path: str) -> str:
    if isinstance(kind, dict):
        return _type_problem(value, "object", kind, path)
    if isinstance(kind, list):
        return _type_problem(value, "list[object]", kind[0], path)
    return _type_problem(value, kind, None, path)


def _list_problem(value: Any, kind: str, fields: Any, path: str) -> str:
    if not isinstance(value, list):
        return f"{path}: {type_word(value)}, not a list"
    for index, item in enumerate(value):
        problem = _type_problem(item, kind, fields, f"{path}[{index}]")
        if problem:
            return problem
    return ""


def _joined(problems: list[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    shown = "".join(f"\n  {problem}" for problem in problems[:_MAX_SHOWN])
    more = len(problems) - _MAX_SHOWN
    tail = f"\n  … and {more} more" if more > 0 else ""
    return f"{len(problems)} problems:{shown}{tail}"
