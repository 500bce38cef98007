"""Checks: questions that Python answers and rules put into words, all in one form.

A check is a node of its own with its kind, its outcome and the texts of a report. Whether a
finding follows, how bad it is and what it explains is for the rules.
"""

from __future__ import annotations

from envcheck.comparing.graph import Graph
from envcheck.facts import Fact
from envcheck.fingerprint import Fingerprint
from envcheck.records import record

__all__ = ["FITS", "MISFIT", "OPEN", "Check", "known", "put_check"]

FITS, MISFIT, OPEN = "fits", "misfit", "undetermined"
"""The outcomes of a check; where a question does not arise there is none."""

_OPEN_BY_DEFAULT = "a fact that it needs is not known"


@record(kw_only=True)
class Check:
    """One answered question about one fact; `sources` are the facts it was answered from.

    `subject` is the fact key that a report names. Empty texts are left out.
    """

    subject: str
    kind: str
    outcome: str
    sources: tuple[str, ...]
    part: str = ""
    """What tells two checks of one kind and subject apart."""
    name: str = ""
    needs: str = ""
    has: str = ""
    what: str = ""
    wanted: str = ""
    train: str = ""
    deploy: str = ""
    open_question: str = ""

    @property
    def node(self) -> str:
        """The node of the graph."""
        return f"check:{self.subject}/{self.kind}{self.part}"


def put_check(graph: Graph, check: Check | None, before: Check | None = None) -> None:
    """Assert a check; `before` is the same one for the train side, which may fail just so."""
    if check is None:
        return
    node, sources = check.node, check.sources
    graph.put(node, "checks", f"ec:{check.kind}", *sources)
    graph.put(node, "outcome", f"ec:{check.outcome}", *sources)
    if check.outcome == OPEN:
        graph.put_value(node, "openQuestion", check.open_question or _OPEN_BY_DEFAULT, *sources)
        return
    _put_texts(graph, check)
    if check.outcome == MISFIT and before is not None and before.outcome == MISFIT:
        graph.put_value(node, "preExisting", True, *before.sources)


def _put_texts(graph: Graph, check: Check) -> None:
    node, sources = check.node, check.sources
    if check.name:
        graph.put_value(node, "name", check.name, *sources)
    if check.needs:
        graph.put_value(node, "needs", check.needs, *sources)
    if check.has:
        graph.put_value(node, "has", check.has, *sources)
    if check.what:
        graph.put_value(node, "what", check.what, *sources)
    if check.wanted:
        graph.put_value(node, "wanted", check.wanted, *sources)
    if check.train:
        graph.put_value(node, "trainValue", check.train, *sources)
    if check.deploy:
        graph.put_value(node, "deployValue", check.deploy, *sources)


def known(side: Fingerprint, key: str) -> Fact | None:
    """Return a fact whose value is known, else None."""
    fact = side.fact(key)
    return fact if fact.is_ok else None
