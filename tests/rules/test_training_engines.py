"""EYE, the reference engine, derives from logs what the built-in engine derives."""

from __future__ import annotations

import os

import pytest

from envcheck.comparing.reference import confirm_with_eye
from envcheck.localisation.analysing import build_training_graph
from envcheck.localisation.cases import FIRES
from envcheck.localisation.judging import judge
from envcheck.localisation.rulesets import load_training_rules
from envcheck.policy.model import Policy
from envcheck.reasoning.eye import find_eye
from tests.rules.test_training_cases import cases, own

FIRING = [
    rule for rule in own() if any((case.rule, case.expect) == (rule, FIRES) for case in cases())
]


@pytest.fixture(autouse=True)
def _eye() -> None:
    if find_eye() is None:
        message = "EYE is not installed: apt-get install eye"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


@pytest.mark.slow
@pytest.mark.parametrize("rule", FIRING)
def test_engines_agree_where_a_rule_fires(rule: str) -> None:
    """No triple more and none less, on the first log about which the rule fires."""
    case = next(case for case in cases() if case.rule == rule and case.expect == FIRES)
    rules = load_training_rules()
    graph, signals = build_training_graph(case.log)
    policy = Policy(profiles=("default", case.profile)) if case.profile else Policy()
    judgement = judge(graph, rules.book, rules.index, signals, policy)

    assert confirm_with_eye(judgement.inference, rules.book).startswith("EYE derived the same")
