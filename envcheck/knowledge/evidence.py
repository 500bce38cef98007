"""The evidence path of a finding: a small graph from the finding down to what probes saw."""

from __future__ import annotations

from dataclasses import dataclass

from envcheck.comparing.graph import Graph
from envcheck.comparing.judging import Judgement
from envcheck.errors import UsageError
from envcheck.findings import Finding
from envcheck.reasoning import Explanation
from envcheck.reasoning.explanation import ABSENT, ASSERTED, BUILT_IN
from envcheck.rulebook.templates import words

__all__ = ["Node", "Path", "evidence_path", "select"]

FINDING = "finding"
RULE = "rule"
FACT = "fact"
TABLE = "table"
TEST = "test"
NOTHING = "nothing"
SEEN = "seen"
_SELF_EVIDENT = ("ec:state", "ec:name")
"""That a rule is enabled and what a package is called explains nothing."""


@dataclass(frozen=True)
class Node:
    """One box of the path. `kind` is finding, rule, fact, table, test, nothing or seen."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True)
class Path:
    """The boxes, and the arrows from a conclusion to what it rests on, by node id."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def select(judgement: Judgement, wanted: str) -> Finding:
    """Return the first finding for `RULE`, `RULE SUBJECT` or a rank.

    Raises UsageError when there is none.
    """
    rule, _, subject = wanted.partition(" ")
    found = [
        finding
        for finding in judgement.findings
        if (wanted.isdecimal() and finding.rank == int(wanted))
        or (finding.rule == rule and subject in ("", finding.subject))
    ]
    if not found:
        known = ", ".join(sorted({finding.rule for finding in judgement.findings})) or "none"
        raise UsageError(f"no finding {wanted!r} in this comparison", hint=f"findings: {known}")
    return found[0]


def evidence_path(graph: Graph, judgement: Judgement, wanted: str) -> Path:
    """Return the evidence path of one finding."""
    finding = select(judgement, wanted)
    outcome = "ec:notices" if finding.values is None else "ec:violates"
    triple = (finding.node, outcome, f"rule:{finding.rule}")
    explanation = judgement.inference.explain(triple)
    builder = _PathBuilder(graph)
    top = builder.add(FINDING, f"{finding.severity}: {finding.title}")
    builder.walk(top, explanation)
    return builder.path()


class _PathBuilder:
    """Collects nodes and edges; equal boxes are one node."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: dict[tuple[str, str], Node] = {}
        self._edges: dict[tuple[str, str], None] = {}

    def add(self, kind: str, text: str) -> str:
        """Add a box and return its id."""
        known = self._nodes.get((kind, text))
        if known is None:
            known = Node(f"n{len(self._nodes)}", kind, text)
            self._nodes[(kind, text)] = known
        return known.id

    def link(self, above: str, below: str) -> None:
        """Add an arrow from a conclusion to what it rests on."""
        self._edges[(above, below)] = None

    def walk(self, above: str, explanation: Explanation) -> None:
        """Add everything below one derived fact."""
        derivation = explanation.derivation
        rule = self.add(RULE, derivation.rule if derivation is not None else "")
        self.link(above, rule)
        for premise in explanation.premises:
            if premise.triple is not None and premise.triple[1] in _SELF_EVIDENT:
                continue
            self._premise(rule, premise)

    def _premise(self, above: str, premise: Explanation) -> None:
        if premise.kind == BUILT_IN:
            self.link(above, self.add(TEST, premise.text))
        elif premise.kind == ABSENT:
            self.link(above, self.add(NOTHING, premise.text))
        elif premise.kind == ASSERTED:
            self._asserted(above, premise)
        else:
            here = self.add(FACT, _say(premise))
            self.link(above, here)
            self.walk(here, premise)

    def _asserted(self, above: str, premise: Explanation) -> None:
        """Add an asserted fact and the readings that it was computed from."""
        sources = [
            item for source in premise.sources if isinstance(source, tuple) for item in source
        ]
        here = self.add(FACT if sources else TABLE, _say(premise))
        self.link(above, here)
        for item in sources:
            side, _, key = item.partition(":")
            if side == "policy":
                self.link(here, self.add(SEEN, f"policy: {self._setting(key)}"))
                continue
            fact = (self._graph.train if side == "train" else self._graph.deploy).fact(key)
            value = fact.value if fact.is_ok else fact.state
            if isinstance(value, dict):
                value = value.get("version", value.get("count", "…"))
            self.link(here, self.add(SEEN, f"{side}: {key} = {value}"))

    def _setting(self, name: str) -> str:
        """Return a setting of the policy with its value and place, as far as they are known."""
        cited = self._graph.policy.citation(name)
        told = name if cited.value is None else f"{name} = {cited.value}"
        return f"{told} ({cited.place})" if cited.place else told

    def path(self) -> Path:
        """Return what was collected."""
        return Path(tuple(self._nodes.values()), tuple(self._edges))


def _say(premise: Explanation) -> str:
    if premise.triple is None:
        return premise.text
    subject, predicate, object_ = premise.triple
    return f"{words(subject)} {predicate.partition(':')[2]} {words(object_)}"
