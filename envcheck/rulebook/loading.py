"""Compiled rules in memory; runs on the standard library alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envcheck.errors import RuleError
from envcheck.reasoning.implication import Implication

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from envcheck.reasoning.store import FactBase, Triple

__all__ = ["SCHEMA", "Rule", "Rulebook", "load_compiled"]

SCHEMA = "envcheck.rulebook/1"


class Rule:
    """What a rule says about itself: the fields of its metadata block."""

    __slots__ = (
        "argument", "basis", "command", "confidence", "detail", "example", "fault", "fix", "guards",
        "id",
        "name", "overrides", "place", "profile", "reads", "references", "severity", "sharp",
        "since", "status", "strength", "title", "why",
    )  # fmt: skip

    def __init__(self, id: str, data: Mapping[str, Any]) -> None:  # noqa: A002
        self.id = id
        self.place: str = data["place"]
        self.name: str = data["name"]
        self.fault: str = data["fault"]
        self.since: str = data["since"]
        self.status: str = data["status"]
        self.severity: str = data["severity"]
        self.basis: str = data["basis"]
        self.title: str = data["title"]
        self.detail: str = data["detail"]
        self.fix: str = data["fix"]
        self.command: str = data.get("command", "")
        self.guards: tuple[str, ...] = tuple(data.get("guards", ()))
        self.confidence: float | None = data.get("confidence")
        self.reads: tuple[str, ...] = tuple(data.get("reads", ()))
        self.why: str = data.get("why", "")
        self.example: str = data.get("example", "")
        self.references: tuple[str, ...] = tuple(data.get("references", ()))
        self.sharp: str = data.get("sharp", "")
        self.overrides: str = data.get("overrides", "")
        self.profile: str = data.get("profile", "")
        self.argument: str = data.get("argument", "")
        """The written argument that a training rule is about."""
        self.strength: str = data.get("strength", "")
        """How far a training rule stands by itself: proof, heuristic or symptom."""

    def __repr__(self) -> str:
        return f"<Rule {self.id} {self.name}>"


class Rulebook:
    """A set of rules: metadata, implications and tables."""

    def __init__(
        self,
        rules: dict[str, Mapping[str, Any]],
        implications: list[Implication],
        facts: list[tuple[Triple, str]],
        predicates: frozenset[str],
        sha256: str,
    ) -> None:
        self._rules = rules
        self.implications = implications
        self.facts = facts
        """The tables, as (triple, file:line)."""
        self.predicates = predicates
        """The predicates that the files declare."""
        self.sha256 = sha256

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Rulebook:
        """Return the rulebook of compiled data."""
        if data.get("schema") != SCHEMA:
            raise RuleError(f"compiled rules of schema {data.get('schema')!r}, not {SCHEMA!r}")
        return cls(
            dict(data["rules"]),
            [Implication.from_data(item) for item in data["implications"]],
            [((s, p, o), place) for s, p, o, place in data["facts"]],
            frozenset(data["predicates"]),
            data["sha256"],
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all rules, sorted."""
        return tuple(sorted(self._rules))

    def rule(self, rule_id: str) -> Rule:
        """Return a rule; raises KeyError for an unknown id."""
        return Rule(rule_id, self._rules[rule_id])

    def merged(self, other: Rulebook) -> Rulebook:
        """Return this rulebook with another one added.

        A rule of the other one with a known id must say so with `ec:overrides`, and replaces
        it then.
        """
        for rule_id, data in other._rules.items():
            if rule_id in self._rules and data.get("overrides") != rule_id:
                raise RuleError(
                    f"rule {rule_id} exists",
                    place=data["place"],
                    hint=f"choose another id, or write: ec:overrides rule:{rule_id}",
                )
        return Rulebook(
            {**self._rules, **other._rules},
            [i for i in self.implications if i.rule not in other._rules] + other.implications,
            self.facts + other.facts,
            self.predicates | other.predicates,
            f"{self.sha256}+{other.sha256}",
        )

    def assert_into(self, base: FactBase, disabled: Iterable[str] = ()) -> None:
        """Add the tables, and for each rule that is not disabled the fact that enables it."""
        for triple, place in self.facts:
            base.add(*triple, source=place)
        for rule_id in self._rules.keys() - set(disabled):
            base.add(f"rule:{rule_id}", "ec:state", "ec:enabled")


def load_compiled(path: str | PathLike[str]) -> Rulebook:
    """Load compiled rules."""
    try:
        with open(path, encoding="utf-8") as file:
            return Rulebook.from_data(json.load(file))
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", place=str(path)) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RuleError("these are not compiled rules", place=str(path)) from error
