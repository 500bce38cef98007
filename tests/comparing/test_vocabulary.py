"""The vocabulary: nothing is asserted that no rule reads, and no rule reads what nobody asserts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from envcheck.comparing.compare import build_graph, builtin_rules
from envcheck.comparing.vocabulary import ASSERTED
from tests.rules.reading import cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.reasoning.implication import Implication

IMPLICATIONS = builtin_rules().implications
OUR_PLACE = "environment/"
"""The rules that need nothing but two fingerprints; a policy asserts more."""
OUTSIDE = {"ec:state"}
"""Asserted by the rulebook itself."""


@pytest.fixture(scope="module")
def asserted() -> set[str]:
    """Return the predicates that the graphs of all cases hold."""
    found: set[str] = set()
    for case in cases():
        found |= {triple[1] for triple in build_graph(case.pair.train, case.pair.deploy).base}
    return found


def test_everything_asserted_is_declared(asserted: set[str]) -> None:
    """A predicate has its meaning written down."""
    assert {name[3:] for name in asserted} - set(ASSERTED) == set()


def test_everything_asserted_is_read(asserted: set[str]) -> None:
    """A predicate that no rule reads, nor the making of findings, is dead weight."""
    assert asserted - read_by(IMPLICATIONS) - {"ec:preExisting"} == set()


def test_everything_that_rules_read_is_asserted_somewhere(asserted: set[str]) -> None:
    """A rule about a predicate that no comparison ever asserts could never fire."""
    ours = [item for item in IMPLICATIONS if item.place.startswith(OUR_PLACE)]
    reserved = {f"ec:{name}" for name in ASSERTED}

    assert (read_by(ours) & reserved) - asserted - OUTSIDE == set()


def read_by(implications: Iterable[Implication]) -> set[str]:
    """Return the predicates in the bodies of implications, also in what they rule out."""
    bodies = [body for item in implications for body in (item, *item.negations)]
    return {predicate for body in bodies for _, predicate, _ in body.patterns}
