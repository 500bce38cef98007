"""The order of findings about training.

Severity first, root causes before what they explain. Among equals the score decides:
`logit(π) + LLR`, where π = (n + 1) / (375 + K) is the share of the fault among the 375 items of
the taxonomy of Humbatova et al. (2020), K the number of faults told apart, and LLR says how far
the evidence goes (5 for a proof, 3 for a measured symptom, 1 for a suspicion). A prior only
orders findings; it never makes one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from envcheck.findings import SEVERITIES, Finding
from envcheck.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envcheck.rulebook.index import IndexEntry
    from envcheck.rulebook.loading import Rulebook

__all__ = ["ITEMS", "prior", "ranked", "score"]

ITEMS = 375
"""149 tagged artefacts and 226 tagged interview answers."""
_EVIDENCE = {"proof": 5.0, "symptom": 3.0, "": 2.0, "heuristic": 1.0}


def prior(count: int | None, faults: int) -> float:
    """Return the share of a fault with `count` items, smoothed over all `faults`."""
    return ((count or 0) + 1) / (ITEMS + faults)


def score(finding: Finding, count: int | None, strength: str, faults: int) -> float:
    """Return the logarithmic odds by which findings of one severity are ordered."""
    share = prior(count, faults)
    return math.log(share / (1 - share)) + _EVIDENCE[strength] * finding.confidence


def ranked(
    findings: Iterable[Finding], index: Mapping[str, IndexEntry], rulebook: Rulebook
) -> tuple[Finding, ...]:
    """Return the findings in rank order, each with its rank from 1."""
    listed = list(findings)
    faults = len({index[rule].fault for rule in rulebook.ids if rule in index})
    causes = {finding.explained_by for finding in listed if finding.explained_by}

    def key(finding: Finding) -> tuple[int | float | str | bool, ...]:
        strength = rulebook.rule(finding.rule).strength
        return (
            SEVERITIES.index(finding.severity),
            bool(finding.explained_by),
            f"{finding.rule} {finding.subject}" not in causes,
            -score(finding, index[finding.rule].count, strength, faults),
            finding.rule,
            finding.subject,
        )

    ordered = sorted(listed, key=key)
    return tuple(replace(finding, rank=rank) for rank, finding in enumerate(ordered, 1))
