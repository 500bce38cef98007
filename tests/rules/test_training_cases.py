"""Every case of the training rules: what fires, what stays silent, what stays open."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from envcheck.localisation.cases import ANY_RULE, FIRES, SILENT, UNKNOWN, read_cases, try_case
from envcheck.localisation.rulesets import load_training_rules, training_rules
from tests.rules.reading import ROOT

if TYPE_CHECKING:
    from envcheck.localisation.cases import TrainingCase

FOLDER = ROOT / "rules" / "training"
NUMERIC = range(50, 70)


@cache
def cases() -> tuple[TrainingCase, ...]:
    """Return the cases, numeric symptoms included."""
    return tuple(read_cases(FOLDER))


def of_rule(rule: str) -> Counter[str]:
    """Return how many cases of a rule expect what."""
    return Counter(case.expect for case in cases() if case.rule == rule)


def own() -> list[str]:
    """Return the rules about data, models and training, numeric symptoms left out."""
    return [
        rule
        for rule in training_rules().ids
        if not (rule.startswith("TRN") and int(rule[3:]) in NUMERIC)
    ]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_case(case: TrainingCase) -> None:
    """The case goes as it says: which rule, how loud, at which line, first or explained."""
    assert try_case(case, load_training_rules()) == ""


@pytest.mark.parametrize("rule", own())
def test_every_rule_has_cases(rule: str) -> None:
    """Two fire and five are silent; where a rule can be open, one is."""
    count = of_rule(rule)
    told = training_rules().rule(rule)
    heads = {
        predicate
        for implication in training_rules().implications
        for _, predicate, object_ in implication.heads
        if object_ == f"rule:{rule}"
    }
    least = 2 if told.profile else 5

    if "ec:violates" in heads:
        assert count[FIRES] >= 2
        assert count[SILENT] >= least
    assert bool(count[UNKNOWN]) == ("ec:undetermined" in heads)


@pytest.mark.parametrize("rule", own())
def test_every_guard_has_a_case(rule: str) -> None:
    """A rule is held back in at least as many cases as it names guards."""
    count, told = of_rule(rule), training_rules().rule(rule)
    if not told.profile:
        assert count[SILENT] + count[UNKNOWN] >= len(told.guards), told.guards


def test_healthy_programs_are_quiet() -> None:
    """Every recorded program has a case that it raises no error and no warning as it is."""
    quiet = {case.place for case in cases() if case.rule == ANY_RULE and case.expect == SILENT}
    recorded = list((FOLDER / "cases" / "base").glob("*.log.json"))

    assert len(quiet) >= 19
    assert len(recorded) >= 19


def test_no_case_is_there_twice() -> None:
    """A rule, what is expected and a name belong to one case."""
    names = Counter((case.rule, case.expect, case.name) for case in cases())

    assert [name for name, times in names.items() if times > 1] == []
