"""What the engine found: derived facts, and for each of them how it came about."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from envcheck.reasoning.explanation import Explanation, explain
from envcheck.reasoning.implication import Comparison, Implication, Pattern
from envcheck.reasoning.store import NO_TABLE, FactBase, Pair, Table, Triple
from envcheck.reasoning.terms import is_variable

if TYPE_CHECKING:
    from envcheck.reasoning.join import Row

__all__ = ["Absence", "Derivation", "Inference"]

Absence = tuple[Pattern, ...]
"""A negated body with the bindings of the row filled in: nothing matches it."""


class Derivation:
    """One firing of an implication: its rule, its bindings and what it rests on."""

    __slots__ = ("implication", "row")

    def __init__(self, implication: Implication, row: Row) -> None:
        self.implication = implication
        self.row = row

    @property
    def rule(self) -> str:
        """The id of the rule."""
        return self.implication.rule

    @property
    def bindings(self) -> dict[str, str]:
        """The term of each variable, by its name without the question mark."""
        names = self.implication.variable_order
        return {name[1:]: term for name, term in zip(names, self.row, strict=True)}

    @property
    def facts(self) -> tuple[Triple, ...]:
        """The facts that the patterns of the body matched, in the order of the rule."""
        return self._filled(self.implication.patterns)

    @property
    def heads(self) -> tuple[Triple, ...]:
        """The facts that the firing derives."""
        return self._filled(self.implication.heads)

    @property
    def built_ins(self) -> tuple[Comparison, ...]:
        """The comparisons that held, as (left, built-in, right)."""
        return self._filled(self.implication.comparisons)

    @property
    def memberships(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The terms that were members of a list of constants, each with its list."""
        at = self._at()
        members = self.implication.memberships
        return tuple((at.get(term, term), items) for term, items in members)

    @property
    def absences(self) -> tuple[Absence, ...]:
        """The negated bodies, with comparisons, that nothing matches."""
        return tuple(
            self._filled(body.patterns) + self._filled(body.comparisons)
            for body in self.implication.negations
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What derivations are sorted by."""
        return (*self.implication.key, self.row)

    def _at(self) -> dict[str, str]:
        return dict(zip(self.implication.variable_order, self.row, strict=True))

    def _filled(self, patterns: tuple[Pattern, ...]) -> tuple[Triple, ...]:
        at = self._at()
        return tuple((at.get(s, s), p, at.get(o, o)) for s, p, o in patterns)

    def __repr__(self) -> str:
        bound = ", ".join(f"{name}={term}" for name, term in self.bindings.items())
        return f"<Derivation {self.rule} {bound}>"


class Inference:
    """The result of a run over a fact base.

    Everything it returns is sorted, so it does not depend on the order of facts and rules.
    """

    def __init__(
        self,
        base: FactBase,
        tables: dict[str, Table],
        fired: list[tuple[Implication, list[Row]]],
    ) -> None:
        self.base = base
        self._tables = tables
        self._fired = fired

    @cached_property
    def facts(self) -> tuple[Triple, ...]:
        """The derived facts: those that were not asserted."""
        asserted = self.base.tables
        return tuple(
            sorted(
                (s, p, o)
                for p, table in self._tables.items()
                if table is not asserted.get(p)
                for s, o in table.pairs.keys() - asserted.get(p, NO_TABLE).pairs.keys()
            )
        )

    def matching(self, predicate: str) -> list[Pair]:
        """Return the sorted (subject, object) pairs of `predicate`, asserted or derived."""
        return sorted(self._tables.get(predicate, NO_TABLE).pairs)

    def __contains__(self, triple: Triple) -> bool:
        subject, predicate, object_ = triple
        return (subject, object_) in self._tables.get(predicate, NO_TABLE).pairs

    def derivations_of(self, triple: Triple) -> tuple[Derivation, ...]:
        """Return every firing that derives `triple`, sorted by rule and bindings."""
        found = self._derivations.get(triple, [])
        return tuple(sorted(found, key=lambda derivation: derivation.key))

    def explain(self, triple: Triple) -> Explanation:
        """Return why `triple` holds, by the shortest derivation of each fact on the way.

        Raises KeyError if it does not hold.
        """
        if triple not in self:
            raise KeyError(triple)
        return explain(self, triple)

    @cached_property
    def _derivations(self) -> dict[Triple, list[Derivation]]:
        found: dict[Triple, list[Derivation]] = {}
        for implication, rows in self._fired:
            names = implication.variable_order
            for subject, predicate, object_ in dict.fromkeys(implication.heads):
                i = names.index(subject) if is_variable(subject) else -1
                j = names.index(object_) if is_variable(object_) else -1
                for row in rows:
                    s = subject if i < 0 else row[i]
                    o = object_ if j < 0 else row[j]
                    derivation = Derivation(implication, row)
                    known = found.setdefault((s, predicate, o), [])
                    known.append(derivation)
        return found
