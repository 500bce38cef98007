"""The shipped fact tables: roles of distributions, variants of one import, known breaks."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["read_rule_file", "role_of", "table", "variant_group"]

TRANSITIVE = "transitive"


def read_rule_file(name: str) -> str:
    """Return the text of a file below `rules/`, also out of a zip archive."""
    for folder in import_module("envcheck.rules").__path__:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as stream:
                return stream.read()
    from importlib.resources import files

    return files("envcheck.rules").joinpath(name).read_text(encoding="utf-8")


@cache
def table(name: str) -> dict[str, Any]:
    """Return one table of `rules/tables/`, for example `roles`."""
    data: dict[str, Any] = json.loads(read_rule_file(f"tables/{name}.json"))
    return data


@cache
def _roles() -> dict[str, str]:
    return {name: role for role, names in table("roles")["roles"].items() for name in names}


@cache
def _groups() -> dict[str, str]:
    return {name: group for group, names in table("variants")["groups"].items() for name in names}


def role_of(name: str) -> str:
    """Return the role of a distribution by its normalised name; `transitive` when not listed."""
    role = _roles().get(name)
    if role is not None:
        return role
    if name.startswith("nvidia-") and name.endswith(("-cu11", "-cu12", "-cu13")):
        return "accelerator-lib"
    if name.startswith(("types-", "pytest-", "flake8-", "sphinx-", "jupyter-", "jupyterlab-")):
        return "dev"
    return TRANSITIVE


def variant_group(name: str) -> str | None:
    """Return the import that a distribution provides together with its variants, or None."""
    return _groups().get(name)
