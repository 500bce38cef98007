"""An implication of a rule in its compiled form, and the plain data it is stored as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.reasoning.store import Triple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Body", "Comparison", "Implication", "Membership", "Pattern"]

Pattern = Triple
"""A triple in which subject and object may be variables."""

Comparison = tuple[str, str, str]
"""(left, built-in, right): a test on two bound terms."""

Membership = tuple[str, tuple[str, ...]]
"""(variable or term, the constants it must be one of)."""


class Body:
    """A conjunction: patterns, comparisons and memberships, in any order."""

    __slots__ = ("comparisons", "memberships", "patterns")

    def __init__(
        self,
        patterns: Iterable[Pattern],
        comparisons: Iterable[Comparison] = (),
        memberships: Iterable[Membership] = (),
    ) -> None:
        self.patterns = tuple(patterns)
        self.comparisons = tuple(comparisons)
        self.memberships = tuple(memberships)

    def variables(self) -> list[str]:
        """Return the variables that the body binds, in order of appearance."""
        found = [t for s, _, o in self.patterns for t in (s, o) if t[0] == "?"]
        found += [term for term, _ in self.memberships if term[0] == "?"]
        return list(dict.fromkeys(found))

    def mentioned(self) -> list[str]:
        """Return all variables, also those that only a comparison uses."""
        compared = [t for left, _, right in self.comparisons for t in (left, right)]
        return list(dict.fromkeys([*self.variables(), *(t for t in compared if t[0] == "?")]))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Body:
        """Read the form that `to_data` writes."""
        return cls(
            [(s, p, o) for s, p, o in data["match"]],
            [(s, p, o) for s, p, o in data.get("test", ())],
            [(term, tuple(items)) for term, items in data.get("in", ())],
        )

    def to_data(self) -> dict[str, Any]:
        """Return the body as JSON data, without empty fields."""
        data: dict[str, Any] = {"match": [list(p) for p in self.patterns]}
        if self.comparisons:
            data["test"] = [list(c) for c in self.comparisons]
        if self.memberships:
            data["in"] = [[term, list(items)] for term, items in self.memberships]
        return data


class Implication(Body):
    """Body, negated bodies and head patterns; `rule` is the id that the guard names.

    `place` is `file:line` of the implication and `variables` fixes the order of the terms
    in a row of bindings.
    """

    __slots__ = ("heads", "negations", "place", "rule", "variable_order")

    def __init__(
        self,
        rule: str,
        body: Body,
        heads: Iterable[Pattern],
        negations: Iterable[Body] = (),
        place: str = "",
    ) -> None:
        super().__init__(body.patterns, body.comparisons, body.memberships)
        self.rule = rule
        self.heads = tuple(heads)
        self.negations = tuple(negations)
        self.place = place
        self.variable_order = tuple(self.variables())
        for subject, _, object_ in self.heads:
            for term in (subject, object_):
                if term[0] == "?" and term not in self.variable_order:
                    raise ValueError(f"{term} in a head of {rule} is not bound")

    @property
    def key(self) -> tuple[str, str, tuple[Pattern, ...], tuple[Pattern, ...]]:
        """What implications are sorted by."""
        return (self.rule, self.place, self.heads, self.patterns)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Implication:
        """Read the form that `to_data` writes."""
        return cls(
            data["rule"],
            Body.from_data(data),
            [(s, p, o) for s, p, o in data["then"]],
            [Body.from_data(body) for body in data.get("not", ())],
            data.get("place", ""),
        )

    def to_data(self) -> dict[str, Any]:
        """Return the implication as JSON data, without empty fields."""
        data = {"rule": self.rule, "place": self.place, **super().to_data()}
        if self.negations:
            data["not"] = [body.to_data() for body in self.negations]
        data["then"] = [list(p) for p in self.heads]
        return data
