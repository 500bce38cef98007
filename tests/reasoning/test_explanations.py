"""Provenance: every premise holds, every leaf is asserted, and taking a leaf away counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from envcheck.reasoning import Body, Explanation, FactBase, Implication, Inference, infer
from tests.reasoning.generated import Program, programs
from tests.reasoning.oracle import absent, compare
from tests.reasoning.test_engine import deep_taxonomy

_SETTINGS = settings(max_examples=50, deadline=None, derandomize=True)


@_SETTINGS
@given(programs())
def test_premises_hold(program: Program) -> None:
    """Each derivation rests on facts that hold, true comparisons and real absences."""
    base = FactBase(program.facts)
    inference = infer(base, program.rules)
    known = {*program.facts, *inference.facts}

    for fact in inference.facts:
        derivations = inference.derivations_of(fact)
        assert derivations
        assert len({d.key for d in derivations}) == len(derivations)
        for derivation in derivations:
            assert fact in derivation.heads
            assert set(derivation.facts) <= known
            assert all(compare(*comparison) for comparison in derivation.built_ins)
            assert all(term in items for term, items in derivation.memberships)
            bindings = {f"?{name}": term for name, term in derivation.bindings.items()}
            for body in derivation.implication.negations:
                assert absent(body, known, bindings)


@_SETTINGS
@given(programs())
def test_explanations_reach_the_ground(program: Program) -> None:
    """Every explanation ends in asserted facts, built-ins and absences, and never in itself."""
    base = FactBase()
    for number, triple in enumerate(program.facts):
        base.add(*triple, source=number)
    inference = infer(base, program.rules)

    for fact in inference.facts:
        explanation = inference.explain(fact)
        assert explanation.triple == fact
        assert not _reaches_itself(explanation)
        for leaf in explanation.leaves():
            assert leaf.kind in ("asserted", "built-in", "absent")
            if leaf.triple and leaf.kind == "asserted":
                assert leaf.triple in base
                assert leaf.sources == (program.facts.index(leaf.triple),)


def _reaches_itself(node: Explanation, above: tuple[Explanation, ...] = ()) -> bool:
    return node in above or any(_reaches_itself(p, (*above, node)) for p in node.premises)


@_SETTINGS
@given(programs(negation=False))
def test_taking_a_leaf_away(program: Program) -> None:
    """Without one of its leaves a fact falls, if there is one way only to derive it."""
    inference = infer(FactBase(program.facts), program.rules)
    for fact in inference.facts[:5]:
        explanation = inference.explain(fact)
        leaf = next(n for n in explanation.leaves() if n.kind == "asserted")
        rest = infer(FactBase(t for t in program.facts if t != leaf.triple), program.rules)
        assert fact not in rest or not _only_one_way(inference, explanation)


def _only_one_way(inference: Inference, explanation: Explanation) -> bool:
    derived = [n for _, n, _ in explanation.walk() if n.kind == "derived"]
    return all(n.triple and len(inference.derivations_of(n.triple)) == 1 for n in derived) and all(
        not inference.derivations_of(n.triple)
        for n in explanation.leaves()
        if n.kind == "asserted" and n.triple
    )


@pytest.fixture
def two_ways() -> Inference:
    """Return an inference with one fact derived by two rules, one of them by a detour."""
    base = FactBase()
    base.add("ec:a", "ec:p", "5", source="first")
    base.add("ec:a", "ec:kind", '"big', source="second")
    rules = [
        Implication("ENV003", Body([("?x", "ec:mid", "?v")]), [("?x", "ec:is", "ec:odd")]),
        Implication(
            "ENV002",
            Body(
                [("?x", "ec:p", "?v"), ("?x", "ec:kind", "?k")],
                [("?v", "math:greaterThan", "3")],
                [("?k", ('"big', '"huge'))],
            ),
            [("?x", "ec:is", "ec:odd")],
            [Body([("?x", "ec:q", "?w")], [("?w", "math:lessThan", "?v")])],
        ),
        Implication("ENV001", Body([("?x", "ec:p", "?v")]), [("?x", "ec:mid", "?v")]),
    ]
    return infer(base, rules)


def test_all_derivations_are_kept(two_ways: Inference) -> None:
    """Both rules are named, in order."""
    found = two_ways.derivations_of(("ec:a", "ec:is", "ec:odd"))

    assert [(d.rule, d.bindings) for d in found] == [
        ("ENV002", {"x": "ec:a", "v": "5", "k": '"big'}),
        ("ENV003", {"x": "ec:a", "v": "5"}),
    ]


def test_shortest_way_is_explained(two_ways: Inference) -> None:
    """The direct rule wins over the detour, with all its premises in words."""
    explanation = two_ways.explain(("ec:a", "ec:is", "ec:odd"))

    assert explanation.lines() == [
        "ec:a ec:is ec:odd, by ENV002",
        "  ec:a ec:p 5",
        "  ec:a ec:kind 'big'",
        "  5 math:greaterThan 3",
        "  'big' is one of 'big', 'huge'",
        "  no fact matches ec:a ec:q ?w and ?w math:lessThan 5",
    ]
    assert [leaf.sources for leaf in explanation.leaves()][:2] == [("first",), ("second",)]


def test_asserted_fact_explains_itself(two_ways: Inference) -> None:
    """An asserted fact is a leaf."""
    explanation = two_ways.explain(("ec:a", "ec:p", "5"))

    assert (explanation.kind, explanation.leaves()) == ("asserted", [explanation])


def test_unknown_fact_is_not_explained(two_ways: Inference) -> None:
    """There is no explanation of what does not hold."""
    with pytest.raises(KeyError):
        two_ways.explain(("ec:a", "ec:is", "ec:even"))


def test_shared_premises_are_shown_once() -> None:
    """A fact that is needed many times over is one node: explanations stay small."""
    base = FactBase([("ec:a", "ec:n0", "1")])
    rules = [
        Implication(
            f"DBL{i:03}",
            Body([("?x", f"ec:n{i}", "?v"), ("?y", f"ec:n{i}", "?v")]),
            [("?x", f"ec:n{i + 1}", "?y"), ("?x", f"ec:n{i + 1}", "1")],
        )
        for i in range(40)
    ]

    lines = infer(base, rules).explain(("ec:a", "ec:n40", "1")).lines()

    assert len(lines) == 2 * 40 + 1
    assert sum(line.endswith("(see above)") for line in lines) == 39


def test_deep_explanation_needs_no_recursion() -> None:
    """A chain longer than the interpreter's stack can be explained."""
    base, rules = deep_taxonomy(3000)

    explanation = infer(base, rules).explain(("ec:i", "rdf:type", "ec:n3000"))

    assert len(explanation.leaves()) == 3001
