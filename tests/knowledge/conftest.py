"""One small comparison with one error, by hand."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from envcheck.comparing.compare import build_graph, builtin_index, builtin_rules
from envcheck.comparing.graph import Graph
from envcheck.comparing.judging import Judgement, judge
from envcheck.facts import Facts, ok
from envcheck.fingerprint import Fingerprint

HOSTILE = 'x"><script>alert(1)</script>\u202e\x1b[31m`|]}'


class Compared(NamedTuple):
    """A graph and what the rules say about it."""

    graph: Graph
    judgement: Judgement


def side(role: str, sklearn: str, kernel: str = "6.1") -> Fingerprint:
    """Return a fingerprint of two packages."""
    facts: Facts = {
        "os.system": ok("linux"),
        "os.kernel_release": ok(kernel),
        "python.version": ok("3.11.7"),
        "python.implementation": ok("cpython"),
        "python.packages": ok({"count": 2, "complete": True, "kind": "installed"}),
        "package.numpy": ok({"version": "1.26.4"}),
        "package.scikit-learn": ok({"version": sklearn, "requires": ["numpy>=1.19.5"]}),
    }
    return Fingerprint(facts, {"role": role, "created": "2026-11-30T12:00:00Z"})


def compared(train: Fingerprint, deploy: Fingerprint) -> Compared:
    """Return the comparison of two fingerprints under the built-in rules."""
    graph = build_graph(train, deploy)
    return Compared(graph, judge(graph, builtin_rules(), builtin_index()))


@pytest.fixture
def older_reader() -> Compared:
    """Return scikit-learn 1.3.2 that reads what 1.5.2 wrote."""
    return compared(side("train", "1.5.2"), side("deploy", "1.3.2", kernel=HOSTILE))
