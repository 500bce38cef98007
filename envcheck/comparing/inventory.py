"""The packages of one environment as the comparison needs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from envcheck.comparing.requirements import (
    Requirement,
    applies,
    marker_environment,
    parse_requirement,
)
from envcheck.comparing.tables import role_of, variant_group
from envcheck.fingerprint import Fingerprint
from envcheck.policy.model import Policy
from envcheck.records import record

__all__ = ["Inventory", "Package", "is_intention"]

_OFF_THE_PATH = frozenset({"dev", "packaging", "transitive", "serving", "accelerator-lib"})
"""Roles that do not make a package a root of the path from input to prediction."""


def is_intention(side: Fingerprint) -> bool:
    """Return whether a fingerprint is what a requirements or lock file asks for."""
    fact = side.fact("python.packages")
    return fact.is_ok and fact.value.get("kind", "installed") != "installed"


@record
class Package:
    """One distribution of one environment."""

    name: str
    value: Mapping[str, Any]

    @property
    def version(self) -> str | None:
        """The version, or None for an intention without a pin."""
        found = self.value.get("version")
        return found if isinstance(found, str) and found else None

    @property
    def full_version(self) -> str | None:
        """The version with its local label."""
        local = self.value.get("local")
        if self.version and local and "+" not in self.version:
            return f"{self.version}+{local}"
        return self.version

    @property
    def specifier(self) -> str:
        """The wanted versions of an intention."""
        return str(self.value.get("specifier", ""))

    @property
    def spelled(self) -> str:
        """The version as texts name it; the wanted versions where there is none."""
        return self.full_version or self.specifier or "(any version)"

    @property
    def wanted(self) -> str:
        """What an installer is asked for to get this package."""
        return self.name + (f"=={self.full_version}" if self.version else self.specifier)

    @property
    def tags(self) -> tuple[str, ...]:
        """The wheel tags."""
        return tuple(tag.strip() for tag in str(self.value.get("tag", "")).split(",") if tag)


class Inventory:
    """The packages of one side (`train` or `deploy`)."""

    def __init__(self, side: str, fingerprint: Fingerprint, policy: Policy | None = None) -> None:
        self.side = side
        self.policy = policy or Policy()
        self.fingerprint = fingerprint
        self._requirements: dict[str, tuple[Requirement, ...]] = {}
        self._markers_hold: dict[str, bool | None] = {}
        self.packages = {
            name: Package(name, fact.value)
            for name, fact in fingerprint.family("package").items()
            if fact.is_ok and isinstance(fact.value, dict)
        }
        self.unused: frozenset[str] = frozenset()
        """Packages that the recorded model files do not need."""
        self.needed: frozenset[str] = frozenset()
        """Packages that the recorded model files need."""
        self.unread = {
            name: fact.reason
            for name, fact in fingerprint.family("package").items()
            if fact.is_open
        }

    @cached_property
    def complete(self) -> bool:
        """Whether a package that is not listed is known to be absent."""
        fact = self.fingerprint.fact("python.packages")
        return fact.is_ok and bool(fact.value.get("complete"))

    @cached_property
    def intended(self) -> bool:
        """Whether this is a requirements or lock file, not an installation."""
        return is_intention(self.fingerprint)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The installed members of each group of variants."""
        out: dict[str, list[str]] = {}
        for name in sorted(self.packages):
            group = variant_group(name)
            if group is not None:
                out.setdefault(group, []).append(name)
        return out

    def stand_in(self, name: str) -> Package | None:
        """Return a variant that provides the same import as `name`, which is absent."""
        group = variant_group(name)
        members = self.groups.get(group, []) if group else []
        return self.packages[members[0]] if members else None

    def source(self, name: str) -> str:
        """Return the source of a package's fact, for the graph."""
        return f"{self.side}:package.{name}"

    @cached_property
    def markers(self) -> Mapping[str, str] | None:
        """The marker variables, None when the environment is not known well enough."""
        return marker_environment(self.fingerprint)

    def requirements(self, name: str) -> tuple[Requirement, ...]:
        """Return what an installed package requires here, extras left out."""
        known = self._requirements.get(name)
        if known is None:
            known = self._requirements[name] = tuple(self._needed(name))
        return known

    def _needed(self, name: str) -> Iterable[Requirement]:
        environment = self.markers
        package = self.packages.get(name)
        if environment is None or package is None:
            return
        for line in package.value.get("requires", ()):
            parsed = parse_requirement(line)
            if parsed is None:
                continue
            if parsed.marker not in self._markers_hold:
                self._markers_hold[parsed.marker] = applies(parsed.marker, environment)
            if self._markers_hold[parsed.marker]:
                yield parsed

    @cached_property
    def on_path(self) -> frozenset[str]:
        """The packages on the model's path, and what they require.

        It starts at the roots that the policy names, else at every package of a role on it
        which the recorded model files do not make superfluous.
        """
        roots = self.policy.roots or [
            name
            for name in self.packages
            if self.table_role(name) not in _OFF_THE_PATH and name not in self.unused
        ]
        roots = [*roots, *self.needed]
        todo = [name for name in roots if name in self.packages]
        done = set(todo)
        while todo:
            for needed in self.requirements(todo.pop()):
                if needed.name in self.packages and needed.name not in done:
                    done.add(needed.name)
                    todo.append(needed.name)
        return frozenset(done)

    def is_tool(self, name: str) -> bool:
        """Return whether a package serves development or installation only, here."""
        return self.role(name) in ("dev", "packaging")

    def table_role(self, name: str) -> str:
        """Return the role that the policy, else the shipped table, gives to a package."""
        return self.policy.roles.get(name) or role_of(name)

    def role(self, name: str) -> str:
        """Return the role of a package here; a tool that the path requires is transitive."""
        role = self.table_role(name)
        if role in ("dev", "packaging") and name in self.on_path:
            return "transitive"
        return role
