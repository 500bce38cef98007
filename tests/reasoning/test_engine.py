"""Inference: recursion, joins, negation, determinism. Expected facts are worked out by hand."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from envcheck.errors import RuleError
from envcheck.reasoning import Body, FactBase, Implication, Triple, infer
from envcheck.reasoning import eye as eye_engine
from envcheck.reasoning.eye import Eye
from tests.reasoning.generated import Program, programs

Patterns = list[Triple]


def _rule(
    name: str, body: Patterns, head: Triple, *absent: Patterns, tests: Patterns | None = None
) -> Implication:
    negations = [Body(patterns) for patterns in absent]
    return Implication(name, Body(body, tests or ()), [head], negations)


def deep_taxonomy(depth: int) -> tuple[FactBase, list[Implication]]:
    """Return the Deep Taxonomy benchmark: a chain of classes, each with two side classes."""
    base = FactBase([("ec:i", "rdf:type", "ec:n0")])
    for level in range(depth):
        for kind in "nij":
            base.add(f"ec:n{level}", "ec:subClassOf", f"ec:{kind}{level + 1}")
    body = [("?x", "rdf:type", "?c"), ("?c", "ec:subClassOf", "?d")]
    return base, [_rule("DTB001", body, ("?x", "rdf:type", "?d"))]


@pytest.mark.parametrize("depth", [1, 10, 100, 1000])
def test_deep_taxonomy(depth: int) -> None:
    """The instance gets every class of the chain and every side class."""
    base, rules = deep_taxonomy(depth)

    facts = infer(base, rules).facts

    expected = {("ec:i", "rdf:type", f"ec:{k}{n}") for k in "nij" for n in range(1, depth + 1)}
    assert set(facts) == expected


def test_deep_taxonomy_on_eye(eye: Eye) -> None:
    """EYE finds the same classes."""
    base, rules = deep_taxonomy(100)

    assert eye_engine.infer(base, rules, eye) == infer(base, rules).facts


def test_mutual_recursion() -> None:
    """Even and odd distance from a start node, each rule feeding the other, on a cycle of 3."""
    base = FactBase([(f"ec:{a}", "ec:to", f"ec:{b}") for a, b in ("ab", "bc", "ca")])
    base.add("ec:a", "ec:even", "ec:a")
    step = ("?x", "ec:to", "?y")
    rules = [
        _rule("EVN001", [("?s", "ec:odd", "?x"), step], ("?s", "ec:even", "?y")),
        _rule("ODD001", [("?s", "ec:even", "?x"), step], ("?s", "ec:odd", "?y")),
    ]

    inference = infer(base, rules)

    everywhere = [("ec:a", "ec:a"), ("ec:a", "ec:b"), ("ec:a", "ec:c")]
    assert inference.matching("ec:even") == everywhere
    assert inference.matching("ec:odd") == everywhere


@pytest.mark.parametrize(
    "body",
    [
        [("?x", "ec:to", "?y"), ("?y", "ec:to", "?z")],
        [("?y", "ec:to", "?z"), ("?x", "ec:to", "?y")],
        [("?x", "ec:edge", "?y"), ("?y", "ec:to", "?z")],
        [("?y", "ec:edge", "?z"), ("?x", "ec:to", "?y")],
    ],
)
def test_transitive_closure(body: Patterns) -> None:
    """Every node of a chain reaches all later ones, whichever pattern meets the new facts."""
    base = FactBase([(f"ec:n{i}", "ec:edge", f"ec:n{i + 1}") for i in range(9)])
    rules = [
        _rule("CLO001", [("?x", "ec:edge", "?y")], ("?x", "ec:to", "?y")),
        _rule("CLO002", body, ("?x", "ec:to", "?z")),
    ]

    found = infer(base, rules).matching("ec:to")

    assert found == [(f"ec:n{i}", f"ec:n{j}") for i in range(10) for j in range(i + 1, 10)]


def test_facts_that_wait_for_their_partner() -> None:
    """A derived fact is found by its object, rounds after it was derived."""
    chain = [(f"ec:n{i}", "ec:edge", f"ec:n{i + 1}") for i in range(9)]
    base = FactBase([*chain, *((f"ec:n{i}", "ec:is", "ec:done") for i in (7, 8, 9))])
    steps = [("?x", "ec:edge", "?w"), ("?w", "ec:edge", "?v"), ("?v", "ec:edge", "?y")]
    done = ("?y", "ec:is", "ec:done")
    rules = [
        _rule("EAR001", [done, *steps], ("?x", "ec:to", "?w")),
        _rule("LAT001", [("?x", "ec:to", "?y"), done], ("?x", "ec:is", "ec:done")),
    ]

    assert [s for s, _ in infer(base, rules).matching("ec:is")] == [f"ec:n{i}" for i in range(10)]


def test_one_variable_twice() -> None:
    """A pattern with the same variable at both ends matches loops only."""
    base = FactBase([("ec:a", "ec:to", "ec:a"), ("ec:a", "ec:to", "ec:b")])
    rules = [_rule("LOP001", [("?x", "ec:to", "?x")], ("?x", "ec:is", "ec:loop"))]

    assert infer(base, rules).facts == (("ec:a", "ec:is", "ec:loop"),)


def test_unconnected_patterns() -> None:
    """Patterns without a common variable pair everything with everything."""
    base = FactBase([("ec:a", "ec:p", "1"), ("ec:b", "ec:p", "1"), ("ec:c", "ec:q", "1")])
    body = [("?x", "ec:p", "?v"), ("?y", "ec:q", "?w")]
    rules = [_rule("CRS001", body, ("?x", "ec:with", "?y"))]

    assert infer(base, rules).matching("ec:with") == [("ec:a", "ec:c"), ("ec:b", "ec:c")]


def test_negation_waits_for_derived_facts() -> None:
    """A negated pattern sees what other rules derive, however the rules are named."""
    base = FactBase([("ec:a", "ec:p", "1"), ("ec:b", "ec:p", "2")])
    late = _rule("ZZZ001", [("?x", "ec:p", "1")], ("?x", "ec:q", "ec:y"))
    early = _rule("AAA001", [("?x", "ec:p", "?v")], ("?x", "ec:r", "ec:y"), [("?x", "ec:q", "?w")])

    for rules in ([late, early], [early, late]):
        assert infer(base, rules).matching("ec:r") == [("ec:b", "ec:y")]


def test_three_levels_of_negation(eyes: list[Eye]) -> None:
    """Negation of negation of negation, on every engine."""
    base = FactBase([("ec:a", "ec:p0", "1"), ("ec:b", "ec:p0", "2"), ("ec:b", "ec:p1", "1")])
    some = [("?x", "ec:p0", "?v")]
    rules = [
        _rule(f"N{4 - i}", some, ("?x", f"ec:p{i + 1}", "1"), [("?x", f"ec:p{i}", "1")])
        for i in (1, 2, 3)
    ]
    expected = (("ec:a", "ec:p2", "1"), ("ec:a", "ec:p4", "1"), ("ec:b", "ec:p3", "1"))

    assert infer(base, rules).facts == expected
    for eye in eyes:
        assert eye_engine.infer(base, rules, eye) == expected


def test_outcomes_of_other_rules_are_no_cycle() -> None:
    """A rule may look at the outcome of one other rule though both report `ec:violates`."""
    base = FactBase([("ec:a", "ec:p", "1"), ("ec:b", "ec:p", "2")])
    one = _rule("ENV001", [("?x", "ec:p", "1")], ("?x", "ec:violates", "rule:ENV001"))
    other = _rule(
        "ENV002",
        [("?x", "ec:p", "?v")],
        ("?x", "ec:violates", "rule:ENV002"),
        [("?x", "ec:violates", "rule:ENV001")],
    )

    assert infer(base, [one, other]).matching("ec:violates") == [
        ("ec:a", "rule:ENV001"),
        ("ec:b", "rule:ENV002"),
    ]


def test_negation_cycle_is_refused() -> None:
    """A rule cannot depend on the absence of what it derives; the message names the way."""
    one = _rule("ENV001", [("?x", "ec:p", "?v")], ("?x", "ec:q", "1"), [("?x", "ec:r", "?w")])
    two = _rule("ENV002", [("?x", "ec:q", "?v")], ("?x", "ec:r", "1"))

    with pytest.raises(RuleError, match="negation cycle: ENV001 → ENV002 → ENV001"):
        infer(FactBase(), [one, two])


def test_base_stays_as_it_is() -> None:
    """Inference adds nothing to the caller's facts."""
    base = FactBase([("ec:a", "ec:p", "1")])
    rules = [_rule("ENV001", [("?x", "ec:p", "?v")], ("?x", "ec:p", "2"))]

    inference = infer(base, rules)

    assert list(base) == [("ec:a", "ec:p", "1")]
    assert inference.facts == (("ec:a", "ec:p", "2"),)
    assert ("ec:a", "ec:p", "2") in inference
    assert ("ec:a", "ec:p", "2") not in base


def test_asserted_facts_are_not_derived() -> None:
    """A fact that was asserted is no news, even if a rule derives it too."""
    base = FactBase([("ec:a", "ec:p", "1"), ("ec:a", "ec:q", "1")])
    rules = [_rule("ENV001", [("?x", "ec:p", "?v")], ("?x", "ec:q", "?v"))]

    assert infer(base, rules).facts == ()


def test_no_rules_and_no_facts() -> None:
    """Nothing follows from nothing."""
    assert infer(FactBase(), []).facts == ()


def test_several_heads() -> None:
    """Each head of an implication is derived."""
    heads = [("?x", "ec:q", "?v"), ("ec:z", "ec:saw", "?x")]
    rule = Implication("ENV001", Body([("?x", "ec:p", "?v")]), heads)

    facts = infer(FactBase([("ec:a", "ec:p", "1")]), [rule]).facts

    assert facts == (("ec:a", "ec:q", "1"), ("ec:z", "ec:saw", "ec:a"))


def test_unbound_head_is_refused() -> None:
    """An implication that would derive a variable cannot be made."""
    with pytest.raises(ValueError, match=r"\?y in a head of ENV001 is not bound"):
        _rule("ENV001", [("?x", "ec:p", "1")], ("?x", "ec:q", "?y"))


def test_sources_of_a_fact() -> None:
    """All sources of a triple are kept, once each, in a fixed order."""
    base = FactBase()
    for source in ("b", None, "a", "b"):
        base.add("ec:a", "ec:p", "1", source)

    assert base.sources(("ec:a", "ec:p", "1")) == ("a", "b")
    assert base.sources(("ec:a", "ec:p", "2")) == ()
    assert len(base) == 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_order_does_not_matter(program: Program) -> None:
    """Facts and rules in another order give the same facts, derivations and explanations."""
    facts, rules = list(program.facts), program.rules
    facts.reverse()
    rules.reverse()

    one = infer(FactBase(program.facts), program.rules)
    two = infer(FactBase(facts), rules)

    assert one.facts == two.facts
    for fact in one.facts:
        ways = [[d.key for d in result.derivations_of(fact)] for result in (one, two)]
        assert ways[0] == ways[1]
        assert one.explain(fact).lines() == two.explain(fact).lines()


_SCRIPT = """
from tests.reasoning.test_engine import deep_taxonomy
from envcheck.reasoning import infer
base, rules = deep_taxonomy(20)
inference = infer(base, rules)
for fact in inference.facts:
    print(fact, inference.derivations_of(fact), inference.explain(fact).lines())
"""


def test_hash_seed_does_not_matter(root: Path) -> None:
    """The output is the same in processes with different hash seeds."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PATH": ""},
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }

    (output,) = outputs
    assert output.count(b"\n") == 60


def test_every_shape_of_pattern() -> None:
    """Constants, bound and free variables at both ends, in every order of three patterns."""
    base = FactBase(
        [
            *(("ec:a", "ec:p", "ec:b"), ("ec:b", "ec:q", "ec:c"), ("ec:a", "ec:r", "ec:c")),
            *(("ec:x", "ec:p", "ec:y"), ("ec:y", "ec:q", "ec:z"), ("ec:x", "ec:r", "ec:c")),
        ]
    )
    ends = [("?x", "?y", "?z"), ("ec:a", "?y", "?z"), ("?x", "ec:b", "?z"), ("?x", "?y", "ec:c")]
    for x, y, z in ends:
        patterns = [(x, "ec:p", y), (y, "ec:q", z), (x, "ec:r", z)]
        for body in itertools.permutations(patterns):
            rule = _rule("ENV001", list(body), (x, "ec:found", z))
            assert infer(base, [rule]).facts == (("ec:a", "ec:found", "ec:c"),)
