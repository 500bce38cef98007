"""The reference engine derives the same from a policy."""

from __future__ import annotations

import os
from datetime import date

import pytest

from envcheck.comparing.compare import build_graph, builtin_index, builtin_rules
from envcheck.comparing.judging import judge
from envcheck.policy import Baseline, BaselineEntry, Policy, Wanted
from envcheck.reasoning import eye
from tests.policy.environments import DEPLOY, TRAIN, policy, waiver

KEPT = BaselineEntry(rule="ENV070", subject="python.version", train="3.11.7", deploy="3.12.1")
GONE = BaselineEntry(rule="ENV040", subject="package.keras", train="2", deploy="3.4")
POLICIES = {
    "limits": policy(
        drift={"numpy": "patch", "keras": "minor", "role:transitive": "any", "python": "none"},
        require=(Wanted(name="onnxruntime"), Wanted(name="numpy", specifier="<2")),
        forbid=(Wanted(name="keras"), Wanted(name="torch")),
        severity={"ENV040": "error", "ENV070": "info"},
        require_gpu=True,
    ),
    "acceptances": policy(
        profiles=("default", "fl4deep"),
        disable=frozenset({"ENV058"}),
        waivers=(
            waiver("ENV042", "package.*"),
            waiver("ENV040", "", date(2026, 11, 1)),
            waiver("ENV060", "package.scipy"),
            waiver("ENV074"),
            waiver("FLD004", "package.[np]*"),
        ),
        baseline=Baseline(entries=(KEPT, GONE), place="base.json"),
    ),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_both_engines_derive_the_same(name: str, strict: bool) -> None:
    """Facts of the built-in engine and of EYE are equal, effects of the policy among them."""
    found = _find_eye()
    wanted: Policy = POLICIES[name]
    graph = build_graph(TRAIN, DEPLOY, wanted)
    judgement = judge(graph, builtin_rules(), builtin_index(), strict=strict)
    derived = judgement.inference.facts
    effects = {predicate for _, predicate, _ in derived}

    assert derived == eye.infer(graph.base, builtin_rules().implications, found)
    expected = {
        "limits": {"ec:allowedIn", "ec:resetBy"},
        "acceptances": {"ec:silences", "ec:mayConcern", "ec:notices"},
    }[name]
    assert expected <= effects
    assert ("ec:raisedBy" in effects) == (strict and name == "acceptances")


def _find_eye() -> eye.Eye:
    found = eye.find_eye()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("EYE is not installed")
        pytest.skip("EYE is not installed: apt-get install eye, or npm install eyereasoner")
    return found
