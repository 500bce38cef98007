"""Cases of rules: pairs of whole fingerprints, and what a rule has to say about each.

A rule folder keeps them beside its rules: `cases/*.json` are lists of cases, and
`cases/base/NAME.train.json` and `NAME.deploy.json` are captured environments. A case names a
base pair and what differs from it, so that each pair holds everything a real one holds:

    {"rule": "ENV031", "name": "1.3 reads 1.5", "expect": "fires", "base": "sklearn",
     "deploy": {"package.scikit-learn": {"value": {"version": "1.3.2"}}},
     "subject": "package.scikit-learn", "severity": "error", "source": "https://…"}

In a patch a fact set to null is taken out, `{"state": …}` replaces the fact, and `{"value": …}`
replaces its value, or is merged into it where both are objects.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from envcheck.errors import EnvcheckError, RuleError
from envcheck.facts import STATES, Fact, ok
from envcheck.fingerprint import Fingerprint
from envcheck.fingerprint.reading import parse_fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["ANY_RULE", "FIRES", "SILENT", "UNKNOWN", "Case", "Pair", "patched", "read_cases"]

FIRES, SILENT, UNKNOWN = "fires", "silent", "unknown"
ANY_RULE = "*"
"""Stands for all rules: `silent` then means no error and no warning at all."""

_REQUIRED = ("rule", "name", "expect", "base")
_FIELDS = {
    "rule": str, "name": str, "expect": str, "base": str, "train": dict, "deploy": dict,
    "subject": str, "severity": str, "first": bool, "reason": str, "source": str,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The two fingerprints of a case."""

    train: Fingerprint
    deploy: Fingerprint


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case; empty text means that it says nothing about it."""

    rule: str
    name: str
    expect: str
    place: str
    """The file it stands in, for messages."""
    pair: Pair
    subject: str = ""
    severity: str = ""
    first: bool = False
    """Whether the finding has to be the first of the report."""
    reason: str = ""
    """Part of the text that says why a rule stays open."""
    source: str = ""
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The facts that differ from the base, by side."""

    def __str__(self) -> str:
        """Return what a message calls it."""
        return f"{self.rule} {self.expect}: {self.name}"


def read_cases(folder: Path) -> list[Case]:
    """Return the cases of a rule folder, file by file; none when it has no `cases` folder.

    Raises RuleError for a file that holds no cases, and for a case that cannot be built.
    """
    bases: dict[str, Pair] = {}
    cases = []
    for path in sorted((folder / "cases").glob("*.json")):
        for number, entry in enumerate(_entries(path), 1):
            place = f"{path}: case {number}"
            _check(entry, place)
            name = entry["base"]
            if name not in bases:
                bases[name] = _base(folder / "cases" / "base", name, place)
            cases.append(_case(entry, bases[name], place))
    return cases


def patched(base: Fingerprint, patch: Mapping[str, Any]) -> Fingerprint:
    """Return a fingerprint with some facts changed; raises ValueError for a bad patch."""
    facts = dict(base.facts)
    for key, change in patch.items():
        if change is None:
            facts.pop(key, None)
        elif not isinstance(change, dict) or not change.keys() & {"state", "value"}:
            raise ValueError(f"{key}: neither null nor an object with a state or a value")
        elif "state" in change:
            if change["state"] not in STATES:
                raise ValueError(f"{key}: no such state: {change['state']!r}")
            facts[key] = Fact.from_json(change)
        else:
            facts[key] = ok(_merged(facts.get(key), change["value"]))
    return replace(base, facts=dict(sorted(facts.items())), place="", text="")


def _merged(old: Fact | None, new: Any) -> Any:
    """Return the new value, merged into the old one where both are objects."""
    if old is None or not (isinstance(old.value, dict) and isinstance(new, dict)):
        return new
    both = {**old.value, **new}
    return {name: value for name, value in both.items() if value is not None}


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuleError(f"cannot be read: {error}", place=str(path)) from error
    if not isinstance(entries, list):
        raise RuleError("is no list of cases", place=str(path), hint="write: [{…}, {…}]")
    return entries


def _check(entry: Any, place: str) -> None:
    if not isinstance(entry, dict):
        raise RuleError("is no object", place=place)
    for name in _REQUIRED:
        if name not in entry:
            raise RuleError(f"has no {name!r}", place=place)
    for name, value in entry.items():
        kind = _FIELDS.get(name)
        if kind is None:
            hint = f"known are {', '.join(_FIELDS)}"
            raise RuleError(f"has the unknown field {name!r}", place=place, hint=hint)
        if not isinstance(value, kind):
            raise RuleError(f"{name!r} is of the wrong type", place=place)
    if entry["expect"] not in (FIRES, SILENT, UNKNOWN):
        hint = f"one of {FIRES}, {SILENT}, {UNKNOWN}"
        raise RuleError(f"expects {entry['expect']!r}", place=place, hint=hint)


def _base(folder: Path, name: str, place: str) -> Pair:
    sides = {}
    for side in ("train", "deploy"):
        path = folder / f"{name}.{side}.json"
        try:
            sides[side] = parse_fingerprint(path.read_bytes(), str(path))
        except OSError as error:
            raise RuleError(f"its base {path.name} cannot be read", place=place) from error
        except EnvcheckError as error:
            raise RuleError(f"its base is no fingerprint: {error}", place=place) from error
    return Pair(**sides)


def _case(entry: dict[str, Any], base: Pair, place: str) -> Case:
    train, deploy = entry.get("train", {}), entry.get("deploy", {})
    try:
        pair = Pair(train=patched(base.train, train), deploy=patched(base.deploy, deploy))
    except ValueError as error:
        raise RuleError(str(error), place=place) from error
    words = {key: entry[key] for key in ("subject", "severity", "reason", "source") if key in entry}
    return Case(
        rule=entry["rule"],
        name=entry["name"],
        expect=entry["expect"],
        place=place,
        pair=pair,
        first=entry.get("first", False),
        changed={"train": tuple(sorted(train)), "deploy": tuple(sorted(deploy))},
        **words,
    )
