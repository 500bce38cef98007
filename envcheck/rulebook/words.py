"""The words that rules may use: a closed vocabulary, so that a typo is found, not ignored."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from envcheck.reasoning.built_ins import IN, MEMBER, NOT_INCLUDES, TESTS
from envcheck.reasoning.terms import TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CLASS",
    "ENABLED",
    "IN_SCOPE",
    "OUTCOMES",
    "PREDICATE",
    "PROFILE",
    "RULE",
    "STATE",
    "UNDETERMINED",
    "VIOLATES",
    "Words",
    "built_in_mistake",
    "is_built_in",
    "suggestion",
]

STATE = "ec:state"
ENABLED = "ec:enabled"
RULE = "ec:Rule"
PREDICATE = "ec:Predicate"
CLASS = "ec:Class"
VIOLATES = "ec:violates"
UNDETERMINED = "ec:undetermined"
IN_SCOPE = "ec:inScope"
OUTCOMES = (VIOLATES, UNDETERMINED, IN_SCOPE)

PROFILE = frozenset({*TESTS, IN, MEMBER, NOT_INCLUDES})
"""All built-ins that a rule may use."""

_UNSAFE = frozenset(
    "log:" + name
    for name in (
        "semantics", "semanticsOrError", "semanticsWithImportsClosure", "content", "parsedAsN3",
        "conclusion", "callWithCleanup", "callWithOptional", "callWithCut", "outputString",
        "n3String", "shell", "inferences", "becomes",
    )
)  # fmt: skip
_FOREIGN = (
    "<http://www.w3.org/2000/10/swap/",
    "<http://eulersharp.sourceforge.net/",
    "<http://www.w3.org/2007/rif-builtin-",
    "<http://eyereasoner.github.io/",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """Which predicates exist, and which of them rules and tables may not assert.

    `classes`, if given, closes the objects of `a` in the same way.
    """

    predicates: frozenset[str]
    reserved: frozenset[str] = frozenset()
    classes: frozenset[str] | None = None

    def extended(self, predicates: Iterable[str], classes: Iterable[str]) -> Words:
        """Return the words with those that the rule files themselves declare."""
        known = None if self.classes is None else self.classes.union(classes)
        return Words(
            predicates=self.predicates.union(predicates, OUTCOMES, (TYPE, STATE)),
            reserved=self.reserved | {STATE},
            classes=known,
        )


def is_built_in(predicate: str) -> bool:
    """Tell whether a predicate is a built-in of N3, in the profile or not."""
    prefix = predicate.partition(":")[0]
    return prefix in ("log", "math", "string", "list") or predicate.startswith(_FOREIGN)


def built_in_mistake(predicate: str) -> tuple[str, str] | None:
    """Return message and hint for a built-in outside the profile."""
    if predicate in PROFILE:
        return None
    if predicate in _UNSAFE or predicate.startswith(_FOREIGN):
        return (
            f"built-in {predicate!r} is refused: it can reach outside the facts",
            "read files, clocks and networks in a probe, and assert a fact",
        )
    close = get_close_matches(predicate, PROFILE, 1, 0.85)
    if close:
        return f"unknown built-in {predicate!r}", f"did you mean {close[0]}?"
    return (
        f"built-in {predicate!r} is outside the profile",
        "compute it in Python, assert the result as a fact and match that",
    )


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a did-you-mean hint, or an empty text."""
    close = get_close_matches(word, sorted(known), 1, 0.75)
    return f"did you mean {close[0]}?" if close else ""
