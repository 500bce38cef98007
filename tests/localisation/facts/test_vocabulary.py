"""The words about data, models and training: what is asserted, what is read, what is declared."""

from __future__ import annotations

from functools import cache

from envcheck.localisation.analysing import build_training_graph
from envcheck.localisation.cases import read_cases
from envcheck.localisation.rulesets import training_rules
from envcheck.localisation.words_of_training import DATA, MODEL, TABLES, TRAINING
from tests.rules.reading import ROOT

DECLARED = {f"ec:{name}" for name in (*DATA, *MODEL, *TRAINING)}


@cache
def asserted() -> frozenset[str]:
    """Return the predicates that the fact builders assert over the logs of all cases."""
    found: set[str] = set()
    for case in read_cases(ROOT / "rules" / "training"):
        graph, _ = build_training_graph(case.log)
        found |= {predicate for _, predicate, _ in graph.base}
    return frozenset(found)


def read() -> set[str]:
    """Return the predicates in the bodies of the rules."""
    return {
        predicate
        for implication in training_rules().implications
        for body in (implication, *implication.negations)
        for _, predicate, _ in body.patterns
    }


def test_what_is_declared_is_asserted() -> None:
    """A word that no log of the cases brings forth is dead."""
    assert DECLARED - asserted() == set()


def test_what_is_declared_is_read() -> None:
    """A fact that no rule reads is not collected."""
    assert DECLARED - read() == set()


def test_table_words_stand_in_tables_and_are_read() -> None:
    """A word of a table that no rule reads, or that no table holds, is dead."""
    words = {f"ec:{name}" for name in TABLES}
    tables = {predicate for (_, predicate, _), _ in training_rules().facts}

    assert words - tables == set()
    assert words - read() == set()
