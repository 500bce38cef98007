"""EYE, the reference engine, derives from every rule case what the built-in engine derives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envcheck.comparing.compare import build_graph
from envcheck.comparing.judging import judge
from envcheck.comparing.reference import EngineDisagreement, confirm_with_eye
from envcheck.comparing.rulesets import builtin_folder, case_folders, load_rules
from envcheck.facts import ok
from envcheck.fingerprint import Fingerprint
from envcheck.reasoning import Inference, infer
from envcheck.reasoning.eye import find_eye
from envcheck.rulebook.cases import Case, read_cases

FILES = sorted(
    path for folder in case_folders(builtin_folder()) for path in folder.glob("cases/*.json")
)


@pytest.fixture(autouse=True)
def _eye() -> None:
    if find_eye() is None:
        message = "EYE is not installed: apt-get install eye"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


def cases_in(path: Path) -> list[Case]:
    """Return the cases of one file."""
    return [case for case in read_cases(path.parent.parent) if case.place.startswith(f"{path}:")]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_engines_agree_on_every_case(path: Path) -> None:
    """No triple more and none less, case by case."""
    rules = load_rules()
    cases = cases_in(path)

    assert cases
    for case in cases:
        graph = build_graph(case.pair.train, case.pair.deploy)
        judgement = judge(graph, rules.book, rules.index)
        assert confirm_with_eye(judgement.inference, rules.book).startswith("EYE derived the same")


def side(version: str) -> Fingerprint:
    """Return an environment with one package."""
    packages = {"count": 1, "complete": True, "kind": "installed"}
    return Fingerprint({"package.keras": ok({"version": version}), "python.packages": ok(packages)})


def test_a_disagreement_is_an_error() -> None:
    """If the built-in engine had missed a rule, the comparison would end with both sides named."""
    rules = load_rules()
    graph = build_graph(side("2.15.0"), side("3.0.0"))
    judge(graph, rules.book, rules.index)
    lame = infer(graph.base, [i for i in rules.book.implications if i.rule != "ENV039"])

    with pytest.raises(EngineDisagreement, match="only EYE: pkg:keras ec:violates rule:ENV039"):
        confirm_with_eye(lame, rules.book)


def test_agreement_is_said() -> None:
    """The sentence counts the derived facts."""
    rules = load_rules()
    graph = build_graph(side("2.15.0"), side("3.0.0"))
    inference: Inference = judge(graph, rules.book, rules.index).inference

    assert confirm_with_eye(inference, rules.book) == (
        f"EYE derived the same {len(inference.facts)} facts"
    )
