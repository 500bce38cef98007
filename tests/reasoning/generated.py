"""Hypothesis strategies for small graphs with layered rules.

Layer k derives predicates of layer k, from those up to k, and negates those below k: so every
program is stratified by construction, with recursion inside a layer.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from envcheck.reasoning import Body, Implication, Triple

__all__ = ["Program", "programs"]

LAYERS = 3
NODES = ("ec:a", "ec:b", "ec:c")
LITERALS = ("1", "1.0", "2", "-1", "true", '"true', '"a', '"A', '"ab')
VARIABLES = ("?x", "?y", "?z")
MATH = ("equalTo", "notEqualTo", "greaterThan", "lessThan", "notLessThan", "notGreaterThan")
STRING = ("startsWith", "endsWith", "contains", "equalIgnoringCase")
BY_TYPE = {
    ("equalTo", "notEqualTo"): ("log", (*NODES, *LITERALS)),
    MATH: ("math", ("1", "1.0", "2", "-1", "true")),
    STRING: ("string", ('"true', '"a', '"A', '"ab', "true")),
}
"""Comparisons by the constants that suit them; EYE orders terms that are no strings, we do not."""


@dataclass(frozen=True)
class Program:
    """Asserted facts and rules, one list of rules for each layer."""

    facts: tuple[Triple, ...]
    layers: tuple[tuple[Implication, ...], ...]

    @property
    def rules(self) -> list[Implication]:
        """All rules."""
        return [rule for layer in self.layers for rule in layer]

    def __repr__(self) -> str:
        return f"Program({self.facts}, {[rule.to_data() for rule in self.rules]})"


def programs(*, negation: bool = True) -> st.SearchStrategy[Program]:
    """Return a strategy for programs, with or without negated patterns."""
    return st.builds(
        Program,
        st.lists(_facts(), min_size=14, max_size=24, unique=True).map(tuple),
        st.tuples(*(_layer(level, negation) for level in range(1, LAYERS + 1))),
    )


def _predicates(level: int) -> st.SearchStrategy[str]:
    return st.sampled_from(["ec:p0", "ec:q0", *(f"ec:p{i}" for i in range(1, level + 1))])


def _facts() -> st.SearchStrategy[Triple]:
    objects = st.sampled_from(NODES) | st.sampled_from(LITERALS)
    return st.tuples(st.sampled_from(NODES), _predicates(1), objects)


def _patterns(level: int, names: tuple[str, ...]) -> st.SearchStrategy[Triple]:
    subjects = st.sampled_from((*names * 6, *NODES))
    objects = st.sampled_from((*names * 12, *NODES, *LITERALS))
    return st.tuples(subjects, _predicates(level), objects)


def _layer(level: int, negation: bool) -> st.SearchStrategy[tuple[Implication, ...]]:
    return st.lists(_rule(level, negation), min_size=2, max_size=4).map(tuple)


@st.composite
def _rule(draw: st.DrawFn, level: int, negation: bool) -> Implication:
    patterns = draw(st.lists(_patterns(level, VARIABLES), min_size=1, max_size=3, unique=True))
    members = draw(st.just([]) | st.just([]) | st.lists(_membership(), max_size=1))
    bound = Body(patterns, (), members).variables()
    body = Body(patterns, draw(_comparisons(bound)), members)
    most = draw(st.sampled_from((0, 2))) if negation else 0
    negations = draw(st.lists(_negated(level, bound), max_size=most))
    terms = st.sampled_from([*bound, *NODES]) if bound else st.sampled_from(NODES)
    subjects = [t for t in bound if _is_subject(t, patterns)] or list(NODES)
    head = (draw(st.sampled_from(subjects)), f"ec:p{level}", draw(terms))
    return Implication(f"T{draw(st.integers(0, 9))}", body, [head], negations)


def _is_subject(name: str, patterns: list[Triple]) -> bool:
    return any(name == subject for subject, _, _ in patterns)


def _membership() -> st.SearchStrategy[tuple[str, tuple[str, ...]]]:
    items = st.lists(st.sampled_from((*NODES, *LITERALS)), min_size=3, max_size=8, unique=True)
    return st.tuples(st.sampled_from(VARIABLES), items.map(tuple))


@st.composite
def _comparison(draw: st.DrawFn, names: list[str]) -> Triple:
    built_ins, (family, constants) = draw(st.sampled_from(list(BY_TYPE.items())))
    right = draw(st.sampled_from(names) | st.sampled_from(constants))
    return draw(st.sampled_from(names)), f"{family}:{draw(st.sampled_from(built_ins))}", right


def _comparisons(names: list[str]) -> st.SearchStrategy[list[Triple]]:
    none: st.SearchStrategy[list[Triple]] = st.just([])
    return none | st.lists(_comparison(names), min_size=1, max_size=2) if names else none


@st.composite
def _negated(draw: st.DrawFn, level: int, outer: list[str]) -> Body:
    names = (*outer, "?n", "?m")
    patterns = draw(st.lists(_patterns(level - 1, names), min_size=1, max_size=2))
    bound = list(dict.fromkeys([*outer, *Body(patterns).variables()]))
    return Body(patterns, draw(_comparisons(bound)))
