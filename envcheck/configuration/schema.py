"""The JSON Schemas of the configuration file and of a file of waivers."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from typing import Any

from envcheck.configuration import tables
from envcheck.errors import MissingExtra

__all__ = ["config_schema", "waivers_schema"]

_FILE = {"type": "string", "description": "a file that holds it, named relative to this one"}
_INCLUDED = ("policy", "waivers")
_DAYS = {"minimum": 1, "maximum": 3650}


def config_schema() -> dict[str, Any]:
    """Return the schema of `envcheck.toml`, and of `[tool.envcheck]` in `pyproject.toml`."""
    made = _schema(tables.ConfigTable, "envcheck.config/1", "Configuration")
    members = made["properties"]
    for name in _INCLUDED:
        told = members[name].pop("description")
        members[name] = {"description": told, "anyOf": [_FILE, members[name]]}
    members["max-waiver-days"].update(_DAYS)
    return made


def waivers_schema() -> dict[str, Any]:
    """Return the schema of a file that `waivers` or `--waivers` names."""
    return _schema(tables.WaiversFile, "envcheck.waivers/1", "Waivers")


def _schema(kind: type, name: str, title: str) -> dict[str, Any]:
    try:
        from pydantic import TypeAdapter
    except ImportError as problem:
        raise MissingExtra("pydantic", "", "the schema of the configuration") from problem
    made: dict[str, Any] = TypeAdapter(kind).json_schema()
    for table, part in {**made.get("$defs", {}), kind.__name__: made}.items():
        _describe(getattr(tables, table), part)
    return {"$id": name, **made, "title": title}


def _describe(table: type, part: dict[str, Any]) -> None:
    """Add what the docstrings below the fields say, and leave out what pydantic makes up."""
    told = _docstrings(table)
    for field in fields(table):
        member = part["properties"][tables.key_of(field.name)]
        member.pop("title", None)
        if member.get("default", 0) is None:
            del member["default"]
        if field.name in told:
            member["description"] = told[field.name]


def _docstrings(table: type) -> dict[str, str]:
    """Return the text below each field of a class and of those it inherits from."""
    found: dict[str, str] = {}
    for kind in reversed(table.__mro__[:-1]):
        (body,) = ast.parse(inspect.getsource(kind)).body
        assert isinstance(body, ast.ClassDef)
        for field, after in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
                name, text = field.target, after.value
                if isinstance(name, ast.Name) and isinstance(text, ast.Constant):
                    found[name.id] = str(text.value)
    return found
