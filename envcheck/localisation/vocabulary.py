"""The closed vocabulary of a training run: every word a training rule may use, with its meaning.

What the fact builders assert and what rules read is held together by a test: a predicate that
nothing asserts, or that no rule reads, fails it.
"""

from __future__ import annotations

from envcheck.localisation.words_of_training import DATA, MODEL, TABLES, TRAINING
from envcheck.rulebook.words import Words

__all__ = ["ASSERTED", "DERIVED", "READ_BY_THE_JUDGE", "RULE_TABLES", "words"]

_SIGNALS: dict[str, str] = {
    "level": "null-normalised loss at the end of a fit: 1 is what guessing gives, 0 is perfect",
    "performance": "of a fit: ec:good, ec:middling, ec:poor, ec:none (no better than guessing) "
    "or ec:undetermined",
    "lossCurve": "of a fit: ec:falling, ec:flat, ec:rising, ec:oscillating, ec:nonfinite or "
    "ec:undetermined",
    "tailDrop": "share of its level that the loss still lost over the last fifth of a fit",
    "oscillation": "share of turns in the smoothed loss that exceed its noise",
    "generalisationGap": "validation level minus training level at the end of a fit",
    "validationMinimumAt": "share of a fit after which the validation loss was lowest",
    "validationRise": "share by which the validation loss rose from its minimum to the end",
    "stepsDone": "optimiser steps that a fit did",
    "epochsRun": "epochs that a fit completed",
    "stillFalling": "true for a fit whose loss was still falling, beyond doubt, at its end",
}
"""What the curves of a fit say."""

_NUMERIC: dict[str, str] = {
    "symptom": "the kind of a numeric symptom, such as ec:dead",
    "layerName": "what a sentence calls the layer of a symptom",
    "when": "between which batches a symptom began",
    "seenValue": "what was seen of a symptom",
    "expectedValue": "what would have been in order instead",
    "what": "the weight, values or gradient that a symptom is about",
    "elsewhere": "a sentence about other layers in the same state",
    "leadsTo": "a symptom that an earlier one can have brought about",
    "numbers": "of a fit: ec:probed, or ec:unknown where its layers were not looked at",
}
"""Where numbers went wrong."""

ASSERTED: dict[str, str] = {**_SIGNALS, **DATA, **MODEL, **TRAINING, **_NUMERIC}
"""Predicates that the fact builders assert."""

DERIVED: dict[str, str] = {
    "explains": "a subject whose finding accounts for the findings of another subject",
    "absorbs": "a rule whose finding accounts for that of another rule on the same subject",
    "sameFixAs": "a rule that asks for an equivalent change: one of the two will do",
}
"""Predicates that rules derive, beside the three outcomes."""

RULE_TABLES: dict[str, str] = {**TABLES}
"""Predicates of the tables inside rule files."""

READ_BY_THE_JUDGE = frozenset({"level", "performance"})
"""Words that the making of findings reads, whether or not a rule does."""


def words() -> Words:
    """Return the vocabulary in the form that the rule compiler checks against."""
    known = {**ASSERTED, **DERIVED, **RULE_TABLES}
    return Words(
        predicates=frozenset(f"ec:{name}" for name in known),
        reserved=frozenset(f"ec:{name}" for name in ASSERTED),
    )
