"""The evidence path of a finding ends at the setting of the policy it rests on."""

from __future__ import annotations

import pytest

from envcheck.comparing.compare import build_graph, builtin_index, builtin_rules
from envcheck.comparing.judging import judge
from envcheck.knowledge.evidence import evidence_path
from envcheck.policy import Citation
from tests.policy.environments import DEPLOY, TRAIN, policy, waiver

POLICY = policy(
    drift={"numpy": "patch"},
    waivers=(waiver("ENV060", "package.scipy"),),
    cited={"drift.numpy": Citation(value="patch", place="envcheck.toml:4")},
)


@pytest.mark.parametrize(
    ("rule", "leaf"),
    [
        ("ENV090", "policy: drift.numpy = patch (envcheck.toml:4)"),
        ("ENV096", "policy: waiver:ENV060/package.scipy"),
    ],
)
def test_a_setting_is_a_leaf(rule: str, leaf: str) -> None:
    """A breach cites its limit, a report on a waiver the waiver."""
    graph = build_graph(TRAIN, DEPLOY, POLICY)
    path = evidence_path(graph, judge(graph, builtin_rules(), builtin_index()), rule)

    assert leaf in {node.text for node in path.nodes}
