"""The shape of the configuration file: one class for each table.

pydantic validates against these classes and makes the JSON Schema from them. Keys have hyphens
where the classes have underscores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

__all__ = ["ConfigTable", "PolicyTable", "ProfileTable", "WaiverTable", "WaiversFile", "key_of"]

Drift = Literal["none", "patch", "minor", "major", "any"]
Severity = Literal["error", "warning", "info"]


def key_of(name: str) -> str:
    """Return the key in the file for the name of a field."""
    return name.replace("_", "-")


_STRICT: dict[str, Any] = {"extra": "forbid", "alias_generator": key_of}


@dataclass(frozen=True, kw_only=True)
class PolicyTable:
    """What may differ, what is required and forbidden, and what findings count for."""

    __pydantic_config__ = _STRICT

    roles: dict[str, str] = field(default_factory=dict)
    """The part that a package plays, by its name."""
    drift: dict[str, Drift] = field(default_factory=dict)
    """How far versions may drift, by package, `python` or `role:NAME`."""
    require: list[str] = field(default_factory=list)
    """Requirements that the deploy environment must meet."""
    forbid: list[str] = field(default_factory=list)
    """Requirements that no package of the deploy environment may meet."""
    roots: list[str] = field(default_factory=list)
    """The packages that the service imports; the path to the prediction starts there."""
    severity: dict[str, Severity] = field(default_factory=dict)
    """The severity of a rule, by its id."""
    disable: list[str] = field(default_factory=list)
    """Rules that do not run."""
    require_gpu: bool = False
    """Whether the deploy environment needs a GPU that is visible."""


@dataclass(frozen=True, kw_only=True)
class ProfileTable(PolicyTable):
    """A named policy, which may extend another."""

    __pydantic_config__ = _STRICT

    about: str = ""
    """What it is for."""
    extends: str = ""
    """The profile that it adds to."""


@dataclass(frozen=True, kw_only=True)
class WaiverTable:
    """One accepted finding."""

    __pydantic_config__ = _STRICT

    rule: str
    """The id of the rule."""
    reason: str
    """Why it is accepted."""
    expires: date
    """The last day on which it holds, in UTC."""
    fact: str = ""
    """A glob over the facts it is accepted for, such as `package.numpy`; all if left out."""
    owner: str = ""
    """Who decides about it."""


@dataclass(frozen=True, kw_only=True)
class WaiversFile:
    """An included file of waivers."""

    __pydantic_config__ = _STRICT

    waivers: list[WaiverTable] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ConfigTable:
    """envcheck.toml, or [tool.envcheck] in pyproject.toml."""

    __pydantic_config__ = _STRICT

    profile: str = "default"
    """The active profile: a name, or a file that holds one."""
    policy: PolicyTable = field(default_factory=PolicyTable)
    """What this project allows beside its profile."""
    profiles: dict[str, ProfileTable] = field(default_factory=dict)
    """Profiles of this project, by name."""
    waivers: list[WaiverTable] = field(default_factory=list)
    """Accepted findings."""
    max_waiver_days: int = 180
    """How far ahead a waiver may expire."""
    baseline: str | None = None
    """The baseline file."""
    fail_on: Literal["error", "warning", "never"] | None = None
    """What makes the exit code 1."""
    format: str | list[str] | None = None
    """The formats of the report, each with a file or not."""
    rules: str | list[str] | None = None
    """Folders with further rules."""
    engine: Literal["builtin", "eye"] | None = None
    """Whether an installed EYE confirms what is derived."""
    strict: bool | None = None
    """Whether what cannot be decided counts as failure."""
    color: Literal["auto", "always", "never"] | None = None
    """When the text has colours."""
