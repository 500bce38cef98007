"""The JSON Schemas accept what the loader accepts, and describe every key."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from envcheck.configuration.schema import config_schema, waivers_schema
from tests.configuration.test_mistakes import MISTAKES, WAIVER

if TYPE_CHECKING:
    from pathlib import Path

SHAPES = (
    "unknown key", "underscore", "key of another table", "option in the policy",
    "unknown key in a waiver", "word outside a list", "text for a flag", "number for a text",
    "text for a list", "list for a number", "number out of range", "unknown drift",
    "unknown severity", "no reason", "no expiry", "unknown key in a profile",
)  # fmt: skip


def data(text: str) -> Any:
    """Return a TOML document as JSON data."""
    return json.loads(json.dumps(tomllib.loads(text), default=date.isoformat))


@pytest.mark.parametrize("schema", [config_schema(), waivers_schema()], ids=["config", "waivers"])
def test_schemas_are_schemas(schema: dict[str, Any]) -> None:
    """Valid, closed, and with a text for every key."""
    jsonschema.Draft202012Validator.check_schema(schema)
    for part in [schema, *schema["$defs"].values()]:
        assert part["additionalProperties"] is False
    for part in schema["$defs"].values():
        assert all(member["description"] for member in part["properties"].values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "policy = 'p.toml'\nwaivers = 'w.toml'\nformat = 'json'\nrules = ['a']\n",
        "profile = 'x'\n[profiles.x]\nextends = 'default'\n[policy.drift]\nx = 'any'\n" + WAIVER,
    ],
)
def test_the_schema_accepts_what_is_right(text: str) -> None:
    """Tables, names of files, one format or several."""
    jsonschema.validate(data(text), config_schema())


@pytest.mark.parametrize("name", SHAPES)
def test_the_schema_refuses_a_wrong_shape(name: str) -> None:
    """The mistakes of shape that the loader tells are refused by the schema too."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data(MISTAKES[name][0]), config_schema())


def test_waivers_in_a_file() -> None:
    """A file of waivers is what the schema of waivers describes."""
    jsonschema.validate(data(WAIVER), waivers_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data("strict = true"), waivers_schema())


def test_shipped_profiles_fit_the_schema(root: Path) -> None:
    """They have the shape of a profile of the project."""
    schema = {"$defs": config_schema()["$defs"], "$ref": "#/$defs/ProfileTable"}
    for path in (root / "rules" / "profiles").glob("*.toml"):
        jsonschema.validate(data(path.read_text("utf-8")), schema)
