"""Every case of the built-in rules: what fires, what stays silent, what stays open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from envcheck.comparing.compare import builtin_rules
from envcheck.rulebook.cases import ANY_RULE, FIRES, SILENT, UNKNOWN
from tests.rules.reading import ENVIRONMENT, cases, hits, loud, report, rule_cases

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.rulebook.cases import Case
    from envcheck.rulebook.loading import Rule

RULES = [
    rule
    for rule in map(builtin_rules().rule, builtin_rules().ids)
    if rule.place.startswith("environment/")
]


def of(expect: str) -> list[Case]:
    """Return the cases of rules that expect this."""
    return [case for case in rule_cases() if case.expect == expect]


@pytest.mark.parametrize("case", of(FIRES), ids=str)
def test_fires(case: Case) -> None:
    """The rule fires about the subject, as loud as expected, and first where it is the cause."""
    found = report(case.pair.train, case.pair.deploy)
    about = hits(case, found)

    assert about, [f"{item.rule} {item.title}" for item in loud(found)]
    assert {item.severity for item in about} == {case.severity}
    if case.first:
        assert found.findings[0].rule == case.rule, found.findings[0].title
    if case.severity == "error":
        assert found.verdict == "does_not_conform"


@pytest.mark.parametrize("case", of(SILENT), ids=str)
def test_silent(case: Case) -> None:
    """The rule has nothing to say, and is not open either: these pairs can be decided."""
    found = report(case.pair.train, case.pair.deploy)

    assert hits(case, found) == []
    assert open_about(case, found) == []


@pytest.mark.parametrize("case", of(UNKNOWN), ids=str)
def test_unknown(case: Case) -> None:
    """The rule stays open about the subject, says why, and does not fire."""
    found = report(case.pair.train, case.pair.deploy)
    reasons = [
        item.reason
        for item in found.undetermined
        if item.rule == case.rule and item.subject == case.subject
    ]

    assert hits(case, found) == []
    assert reasons
    assert case.reason in reasons[0]


@pytest.mark.parametrize("case", [case for case in cases() if case.rule == ANY_RULE], ids=str)
def test_harmless(case: Case) -> None:
    """A pair with nothing but harmless differences conforms, with no error and no warning."""
    found = report(case.pair.train, case.pair.deploy)

    assert [f"{item.severity} {item.rule} {item.title}" for item in loud(found)] == []
    assert found.verdict == "conforms"
    if everything_is_known(case):
        assert open_about(case, found) == []


def open_about(case: Case, found: Report) -> list[str]:
    """Return the open outcomes of the case's rule, or of all rules, about its subject."""
    return [
        f"{item.rule} {item.subject}: {item.reason}"
        for item in found.undetermined
        if case.rule in (ANY_RULE, item.rule) and case.subject in ("", item.subject)
    ]


def everything_is_known(case: Case) -> bool:
    """Return whether no fact of a case is open, and none was taken out but packages."""
    sides = {"train": case.pair.train, "deploy": case.pair.deploy}
    taken = (
        key
        for side, keys in case.changed.items()
        for key in keys
        if key not in sides[side].facts and not key.startswith("package.")
    )
    open_facts = (fact for side in sides.values() for fact in side.facts.values() if fact.is_open)
    return not any(taken) and not any(open_facts)


def test_there_are_enough_harmless_pairs() -> None:
    """The figure that the documentation gives is what is there."""
    assert sum(case.rule == ANY_RULE for case in cases()) >= 80


@pytest.mark.parametrize("case", cases(), ids=str)
def test_pairs_are_what_the_tool_meets(case: Case) -> None:
    """Each pair has 50 packages on each side and ten differences beside the one that matters."""
    here, there = (side.family("package") for side in (case.pair.train, case.pair.deploy))
    patched = {key for keys in case.changed.values() for key in keys}
    differences = [
        name
        for name in here.keys() | there.keys()
        if here.get(name) != there.get(name) and f"package.{name}" not in patched
    ]

    assert min(len(here), len(there)) >= 50
    assert len(differences) >= 10


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_cases(rule: Rule) -> None:
    """A rule fires and is silent in a case of its own, and open in one where it can be open."""
    count = Counter(case.expect for case in rule_cases() if case.rule == rule.id)
    can_be_open = any(
        predicate == "ec:undetermined" and object_ == f"rule:{rule.id}"
        for implication in builtin_rules().implications
        for _, predicate, object_ in implication.heads
    )

    assert count[FIRES] >= 1
    assert count[SILENT] >= 1
    assert bool(count[UNKNOWN]) == can_be_open


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_guard_has_a_case(rule: Rule) -> None:
    """There are at least as many cases that hold a rule back as it names guards.

    What holds it back makes it silent, open, or mere information.
    """
    held_back = [
        case
        for case in rule_cases()
        if case.rule == rule.id and (case.expect != FIRES or case.severity != rule.severity)
    ]

    assert len(held_back) >= len(rule.guards), rule.guards


def test_every_case_names_a_rule_and_a_source() -> None:
    """A case that tests nothing, or comes from nowhere, is a mistake."""
    ids = {rule.id for rule in RULES} | {ANY_RULE}
    names = Counter((case.rule, case.expect, case.name) for case in cases())

    assert {case.rule for case in cases()} <= ids
    assert [case.name for case in cases() if case.expect != UNKNOWN and not case.source] == []
    assert [case.name for case in cases() if case.expect == FIRES and not case.severity] == []
    assert [case.name for case in of(UNKNOWN) if not (case.subject and case.reason)] == []
    assert [name for name, times in names.items() if times > 1] == []


def test_base_pairs_are_all_used() -> None:
    """No captured environment lies about without a case."""
    kept = {path.name.partition(".")[0] for path in (ENVIRONMENT / "cases/base").glob("*.json")}
    used = set()
    for path in (ENVIRONMENT / "cases").glob("*.json"):
        text = path.read_text("utf-8")
        used |= {name for name in kept if f'"base": "{name}"' in text}

    assert used == kept
