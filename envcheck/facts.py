"""Facts: what a probe says about one property of one environment.

This module runs on CPython 3.9 with the standard library alone, as probes do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envcheck.records import record

__all__ = [
    "ERROR",
    "NOT_APPLICABLE",
    "OK",
    "STATES",
    "UNKNOWN",
    "Fact",
    "Facts",
    "Key",
    "error",
    "not_applicable",
    "ok",
    "unknown",
]

OK = "ok"
NOT_APPLICABLE = "not_applicable"
UNKNOWN = "unknown"
ERROR = "error"
STATES = (OK, NOT_APPLICABLE, UNKNOWN, ERROR)

Facts = dict[str, "Fact"]
"""Facts by key, for example `{"cpu.architecture": ok("x86_64")}`."""


@record
class Fact:
    """One fact: its state, its value when the state is `ok`, else the reason.

    Values are JSON data: None, bool, int, float (finite), str, list, dict with string keys.
    """

    state: str
    value: Any = None
    reason: str = ""
    source: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the value is known."""
        return self.state == OK

    @property
    def is_open(self) -> bool:
        """Whether the property exists or may exist, but its value is not known."""
        return self.state in (UNKNOWN, ERROR)

    def to_json(self) -> dict[str, Any]:
        """Return the fact in its file form, with no empty fields."""
        out: dict[str, Any] = {"state": self.state}
        if self.state == OK:
            out["value"] = self.value
        if self.reason:
            out["reason"] = self.reason
        if self.source:
            out["source"] = self.source
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fact:
        """Return the fact of a file entry that has been checked already."""
        return cls(data["state"], data.get("value"), data.get("reason", ""), data.get("source", ""))


def ok(value: Any, source: str = "") -> Fact:
    """Return a known fact."""
    return Fact(OK, value, "", source)


def not_applicable(reason: str = "") -> Fact:
    """Return the fact that this property does not exist here, and that this is certain."""
    return Fact(NOT_APPLICABLE, None, reason)


def unknown(reason: str) -> Fact:
    """Return the fact that the value could not be found out, and why."""
    return Fact(UNKNOWN, None, reason)


def error(reason: str) -> Fact:
    """Return the fact that reading went wrong in an unexpected way."""
    return Fact(ERROR, None, reason)


@record
class Key:
    """The declaration of a fact key, from which the schema and the docs are made.

    `name` may end in `.*` for a family (`package.*`). `type` is one of `string`, `integer`,
    `number`, `boolean`, `list[string]`, `list[object]`, `object`. `fields` documents the members
    of an object (or of the objects in a list) as `{name: (type, meaning)}`.
    """

    name: str
    type: str
    doc: str
    unit: str = ""
    fields: Any = None
