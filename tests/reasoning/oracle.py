"""An independent evaluator in its simplest form: try every fact for every pattern, forever.

It shares no code with the engine but the plain data of facts and implications. Negation is
sound because the caller gives the implications in layers, and each layer runs to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from envcheck.reasoning import Body, Implication, Triple

__all__ = ["absent", "compare", "matches", "naive"]

Bindings = dict[str, str]


def naive(facts: Iterable[Triple], layers: list[list[Implication]]) -> set[Triple]:
    """Return all facts, asserted and derived."""
    known = set(facts)
    for layer in layers:
        while True:
            new = {head for rule in layer for head in _heads(rule, known)} - known
            if not new:
                break
            known |= new
    return known


def matches(body: Body, known: set[Triple], bindings: Bindings) -> Iterator[Bindings]:
    """Yield all extensions of the bindings under which the body holds."""
    for found in _patterns(list(body.patterns), known, bindings):
        for whole in _members(list(body.memberships), found):
            if all(compare(_get(a, whole), op, _get(b, whole)) for a, op, b in body.comparisons):
                yield whole


def absent(body: Body, known: set[Triple], bindings: Bindings) -> bool:
    """Tell whether nothing matches the body."""
    return not any(True for _ in matches(body, known, bindings))


def compare(left: str, built_in: str, right: str) -> bool:
    """Evaluate a comparison on exact values."""
    family, _, name = built_in.partition(":")
    if family == "log":
        return (left == right) == (name == "equalTo")
    if family == "math":
        if left[0] not in "-0123456789" or right[0] not in "-0123456789":
            return False
        order = Decimal(left).compare(Decimal(right))
        return {
            "equalTo": order == 0,
            "notEqualTo": order != 0,
            "greaterThan": order > 0,
            "lessThan": order < 0,
            "notLessThan": order >= 0,
            "notGreaterThan": order <= 0,
        }[name]
    if left[0] != '"' or right[0] != '"':
        return False
    a, b = left[1:], right[1:]
    return {
        "startsWith": a[: len(b)] == b,
        "endsWith": a.endswith(b),
        "contains": b in a,
        "lessThan": a < b,
        "greaterThan": b < a,
        "equalIgnoringCase": a.lower() == b.lower(),
    }[name]


def _heads(rule: Implication, known: set[Triple]) -> Iterator[Triple]:
    for found in matches(rule, known, {}):
        if all(absent(body, known, found) for body in rule.negations):
            for s, p, o in rule.heads:
                yield _get(s, found), p, _get(o, found)


def _patterns(patterns: list[Triple], known: set[Triple], bindings: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    s, p, o = patterns[0]
    for fact in known:
        extended = dict(bindings)
        if fact[1] == p and _bind(s, fact[0], extended) and _bind(o, fact[2], extended):
            yield from _patterns(patterns[1:], known, extended)


def _members(members: list[tuple[str, tuple[str, ...]]], bindings: Bindings) -> Iterator[Bindings]:
    if not members:
        yield bindings
        return
    term, items = members[0]
    for item in items:
        extended = dict(bindings)
        if _bind(term, item, extended):
            yield from _members(members[1:], extended)


def _bind(term: str, value: str, bindings: Bindings) -> bool:
    if not term.startswith("?"):
        return term == value
    return bindings.setdefault(term, value) == value


def _get(term: str, bindings: Bindings) -> str:
    return bindings[term] if term.startswith("?") else term
