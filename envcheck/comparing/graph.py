"""The graph that the rules read: two fingerprints as facts over one closed vocabulary.

Every triple carries the fingerprint facts it was computed from (`train:package.numpy`), or the
setting of the policy (`policy:drift.numpy`), so an explanation ends at what a probe has seen or a
user has written. Subjects are the two environments (`env:`), compared
facts (`fact:`), packages (`pkg:`), requirements (`req:`), import groups (`group:`) and answered
questions (`check:`).
"""

from __future__ import annotations

from typing import Any

from envcheck.fingerprint import Fingerprint
from envcheck.policy.model import Policy
from envcheck.reasoning import FactBase
from envcheck.reasoning.terms import boolean, decimal, integer, string
from envcheck.records import field, record

__all__ = ["DEPLOY", "TRAIN", "Acceptance", "Graph", "term"]

TRAIN = "env:train"
DEPLOY = "env:deploy"


def term(value: Any) -> str:
    """Return a literal for a value of a fact; lists, tuples and objects become their text."""
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return decimal(value)
    if isinstance(value, list | tuple):
        return string(", ".join(str(item) for item in value))
    return string(str(value))


@record(kw_only=True)
class Acceptance:
    """A waiver or baseline entry as the judge needs it: what to say, and where it stands."""

    note: str
    place: str
    line: int | None
    baselined: bool


@record
class Graph:
    """The facts under construction; `base` is what the reasoner gets."""

    train: Fingerprint
    deploy: Fingerprint
    base: FactBase = field(default_factory=FactBase)
    policy: Policy = field(default_factory=Policy)
    acceptances: dict[str, Acceptance] = field(default_factory=dict)
    """The waiver or baseline entry behind each node of that kind."""
    notes: list[str] = field(default_factory=list)
    """Sentences about the comparison itself, for the report."""

    def put(self, subject: str, predicate: str, object_: str, *sources: str) -> None:
        """Assert one triple that was computed from the given facts (`side:key`)."""
        self.base.add(subject, f"ec:{predicate}", object_, tuple(sorted(sources)))

    def put_value(self, subject: str, predicate: str, value: Any, *sources: str) -> None:
        """Assert a literal."""
        self.put(subject, predicate, term(value), *sources)
