"""The engine against an independent evaluator and against EYE, on generated programs."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from envcheck.reasoning import Body, FactBase, Implication, Triple, infer
from envcheck.reasoning import eye as eye_engine
from envcheck.reasoning.eye import Eye
from tests.reasoning.generated import Program, programs
from tests.reasoning.oracle import naive

EXAMPLES = 200
BATCH = 100
_SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _expected(program: Program) -> set[Triple]:
    layers = [list(layer) for layer in program.layers]
    return naive(program.facts, layers) - set(program.facts)


@_SETTINGS
@given(programs())
def test_naive_evaluator(program: Program) -> None:
    """The engine derives exactly what trying everything derives."""
    found = infer(FactBase(program.facts), program.rules).facts

    assert set(found) == _expected(program)
    assert list(found) == sorted(found)


def test_eye(eye: Eye) -> None:
    """EYE derives the same from hundreds of programs, each in its own namespace."""
    collected: list[Program] = []

    @_SETTINGS
    @given(programs())
    def collect(program: Program) -> None:
        collected.append(program)

    collect()
    for start in range(0, len(collected), BATCH):
        batch = collected[start : start + BATCH]
        facts = [_moved(t, i) for i, p in enumerate(batch) for t in p.facts]
        rules = [_moved_rule(r, i) for i, p in enumerate(batch) for r in p.rules]

        theirs = eye_engine.infer(FactBase(facts), rules, eye)

        ours = infer(FactBase(facts), rules).facts
        assert set(theirs) ^ set(ours) == set()
        assert len(ours) > BATCH  # the programs are not idle


def _moved(triple: Triple, number: int) -> Triple:
    """Move a triple into the namespace of its program by its predicate."""
    subject, predicate, object_ = triple
    return subject, f"{predicate}-{number}", object_


def _moved_body(body: Body, number: int) -> Body:
    patterns = [_moved(t, number) for t in body.patterns]
    return Body(patterns, body.comparisons, body.memberships)


def _moved_rule(rule: Implication, number: int) -> Implication:
    heads = [_moved(t, number) for t in rule.heads]
    negations = [_moved_body(b, number) for b in rule.negations]
    return Implication(rule.rule, _moved_body(rule, number), heads, negations)
