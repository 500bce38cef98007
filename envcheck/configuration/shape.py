"""Keys, types and closed lists of values, by pydantic, in the words of the file."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date, datetime, time
from typing import Any

from envcheck.configuration.documents import Document
from envcheck.configuration.lines import Path
from envcheck.configuration.mistakes import Mistakes, did_you_mean
from envcheck.configuration.tables import (
    ConfigTable,
    PolicyTable,
    ProfileTable,
    WaiverTable,
    key_of,
)
from envcheck.errors import MissingExtra

__all__ = ["check_shape"]

_KINDS = {
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "dataclass_type": "must be a table",
}


def check_shape(document: Document, mistakes: Mistakes) -> None:
    """Report unknown and missing keys and values of the wrong type or outside their list."""
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError as problem:
        raise MissingExtra("pydantic", "", "a configuration file") from problem
    data = dict(document.data)
    for name in ("format", "rules"):
        if isinstance(data.get(name), str):
            data[name] = [data[name]]
    try:
        TypeAdapter(ConfigTable).validate_json(json.dumps(data, default=_plain), strict=True)
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            _report(document, tuple(error["loc"]), error, mistakes)


def _plain(value: Any) -> str:
    """Return dates as JSON has them."""
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def _report(document: Document, path: Path, error: Any, mistakes: Mistakes) -> None:
    kind, value = error["type"], error.get("input")
    name = _dotted(path)
    if kind == "unexpected_keyword_argument":
        key = str(path[-1])
        mistakes.add(
            document.place(path), f"unknown key {key!r}{_of(path[:-1])}", _hint(path[:-1], key)
        )
    elif kind == "missing":
        table = _dotted(path[:-1])
        mistakes.add(document.place(path[:-1]), f"{table} has no {key_of(str(path[-1]))!r}")
    elif kind == "literal_error":
        choices = [word.strip("'") for word in _words(error["ctx"]["expected"])]
        message = f"{name}: {value!r} is none of {', '.join(choices)}"
        mistakes.add(document.place(path), message, did_you_mean(str(value), choices))
    elif kind.startswith("date_"):
        mistakes.add(document.place(path), f"{name}: {value!r} is no date", "write 2026-12-31")
    else:
        told = _KINDS.get(kind, str(error["msg"]).lower())
        mistakes.add(document.place(path), f"{name} {told}, not {_shown(value)}")


def _words(expected: str) -> list[str]:
    """Return the choices that pydantic lists as `'a', 'b' or 'c'`."""
    return expected.replace(" or ", ", ").split(", ")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return json.dumps(value, ensure_ascii=False)


def _dotted(path: Path) -> str:
    """Return a path as people write it: `waivers[2].expires`."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _of(table: Path) -> str:
    return f" in {_dotted(table)}" if table else ""


def _table_at(path: Path) -> type:
    """Return the class that describes the table at a path."""
    if path[:1] == ("policy",):
        return PolicyTable
    if path[:1] == ("profiles",):
        return ProfileTable
    return WaiverTable if path[:1] == ("waivers",) else ConfigTable


def _keys(table: type) -> list[str]:
    return [key_of(one.name) for one in fields(table)]


def _hint(table: Path, key: str) -> str:
    known = _keys(_table_at(table))
    if not table and key in _keys(PolicyTable):
        return f"write it under [policy]: {key}"
    if table and key in _keys(ConfigTable) and key not in known:
        return "write it at the top of the file, above the first table"
    return did_you_mean(key.replace("_", "-"), known, f"the keys are {', '.join(known)}")
