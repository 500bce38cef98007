"""How well the environment rules tell real incidents from harmless differences.

Every case of the rules is a pair of whole fingerprints. Of the pairs that a rule must name, how
many does it name (sensitivity)? Of the pairs with nothing but harmless differences, how many stay
without an error or a warning (specificity)? Of the pairs in which everything is known, in how
many does the rule reach a decision (coverage)?

    python benchmarks/rule_base.py
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from envcheck.comparing.compare import builtin_rules, compare_fingerprints  # noqa: E402
from envcheck.findings import Report  # noqa: E402
from envcheck.rulebook.cases import ANY_RULE, FIRES, SILENT, UNKNOWN, Case, read_cases  # noqa: E402

_INCIDENT = re.compile(r"incident (\d+)")
INCIDENTS = 37
"""Public reports that a fingerprint would have predicted."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """A share with what it was counted from."""

    name: str
    right: int
    total: int

    def __str__(self) -> str:
        """Return the line of a table."""
        share = 100 * self.right / self.total if self.total else 0.0
        return f"| {self.name} | {self.right} of {self.total} | {share:.1f} % |"


def is_named(case: Case, report: Report) -> bool:
    """Return whether the rule fires about the subject, as loud as the case says."""
    return any(
        finding.rule == case.rule
        and case.subject in ("", finding.subject)
        and finding.severity == case.severity
        for finding in report.findings
    )


def is_open(case: Case, report: Report) -> bool:
    """Return whether the rule (any rule, for a harmless pair) could not be decided."""
    return any(
        case.rule in (ANY_RULE, outcome.rule) and case.subject in ("", outcome.subject)
        for outcome in report.undetermined
    )


def is_loud(report: Report) -> bool:
    """Return whether there is an error or a warning."""
    return any(finding.severity != "info" for finding in report.findings)


def is_decidable(case: Case) -> bool:
    """Return whether every fact of both sides is known."""
    sides = (case.pair.train, case.pair.deploy)
    taken = any(
        key not in side.facts and not key.startswith("package.")
        for name, side in zip(("train", "deploy"), sides, strict=True)
        for key in case.changed[name]
    )
    return (
        not taken
        and case.expect != UNKNOWN
        and not any(fact.is_open for side in sides for fact in side.facts.values())
    )


def scores(judged: list[tuple[Case, Report]]) -> Iterable[Score]:
    """Yield the figures."""
    firing = [(case, report) for case, report in judged if case.expect == FIRES]
    loud = [pair for pair in firing if pair[0].severity != "info"]
    harmless = [report for case, report in judged if case.rule == ANY_RULE]
    quiet = [(c, r) for c, r in judged if c.expect == SILENT and c.rule != ANY_RULE]
    decidable = [pair for pair in judged if is_decidable(pair[0])]
    open_ones = [pair for pair in judged if pair[0].expect == UNKNOWN]
    named = {_number(case) for case, report in firing if is_named(case, report)} - {None}
    yield _score("public incidents named with their cause", len(named), INCIDENTS)
    yield _score("pairs that must be named", sum(is_named(*one) for one in firing), len(firing))
    yield _score("of these, errors and warnings", sum(is_named(*one) for one in loud), len(loud))
    yield _score(
        "guarded pairs on which the rule is silent",
        sum(all(f.rule != c.rule or c.subject not in ("", f.subject) for f in r.findings)
            for c, r in quiet),
        len(quiet),
    )  # fmt: skip
    yield _score(
        "harmless pairs without an error or warning",
        sum(not is_loud(report) for report in harmless),
        len(harmless),
    )
    yield _score(
        "pairs with all facts known that are decided",
        sum(not is_open(*one) for one in decidable),
        len(decidable),
    )
    yield _score(
        "undecidable pairs that stay open", sum(is_open(*one) for one in open_ones), len(open_ones)
    )


def _score(name: str, right: int, total: int) -> Score:
    return Score(name=name, right=right, total=total)


def _number(case: Case) -> int | None:
    found = _INCIDENT.match(case.name)
    return int(found[1]) if found else None


def main() -> int:
    """Print the figures; exit 1 when a pair is judged otherwise than its case says."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    cases = read_cases(ROOT / "rules" / "environment")
    judged = [(case, compare_fingerprints(case.pair.train, case.pair.deploy)) for case in cases]
    rules = [
        rule
        for rule in map(builtin_rules().rule, builtin_rules().ids)
        if rule.place.startswith("environment/")
    ]
    levels = Counter(rule.severity for rule in rules)
    counted = ", ".join(f"{levels[one]} {one}" for one in ("error", "warning", "info"))
    print(f"{len(rules)} rules ({counted}), {len(cases)} pairs:\n")
    print("| | pairs | share |\n|---|---|---|")
    found = list(scores(judged))
    for score in found:
        print(score)
    return 0 if all(score.right == score.total for score in found) else 1


if __name__ == "__main__":
    sys.exit(main())
