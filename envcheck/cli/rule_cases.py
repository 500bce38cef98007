"""Run the cases of rules, for `envcheck rules test`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from envcheck.rulebook.loading import Rulebook

__all__ = ["Outcome", "try_environment_cases", "try_training_cases"]


class Outcome(NamedTuple):
    """How many cases there were, how many went differently, and what to print about them."""

    cases: int
    bad: int
    lines: list[str]


def try_environment_cases(folder: str | None) -> Outcome:
    """Run the cases of rules about environments; those that ship with envcheck by default."""
    from envcheck.comparing.rulesets import builtin_folder, case_folders, load_rules
    from envcheck.comparing.trials import try_cases

    rules = load_rules([folder] if folder else [])
    known = load_rules([]).book.ids if folder else ()
    own = [rule for rule in rules.book.ids if rule not in known and _has_cases(rules.book, rule)]
    trial = try_cases(case_folders(Path(folder or builtin_folder())), rules, own)
    bad = [result for result in trial.results if result.problem]
    lines = [f"{result.case}: {result.problem} ({result.case.place})" for result in bad]
    return Outcome(len(trial.results), len(bad), [*lines, *trial.missing])


def _has_cases(book: Rulebook, rule_id: str) -> bool:
    """Return whether a pair of fingerprints alone can make a rule fire.

    Rules about the policy itself and rules of a profile need settings beside the pair.
    """
    rule = book.rule(rule_id)
    return not rule.profile and not rule.place.startswith("policy/")


def try_training_cases(folder: str | None) -> Outcome:
    """Run the cases of rules about training; those that ship with envcheck by default."""
    from envcheck.comparing.rulesets import builtin_folder
    from envcheck.localisation.cases import case_folders, read_cases, try_case
    from envcheck.localisation.rulesets import load_training_rules
    from envcheck.rulebook.casework import missing_cases

    rules = load_training_rules([folder] if folder else [])
    known = load_training_rules().book.ids if folder else ()
    own = [rule for rule in rules.book.ids if rule not in known]
    folders = case_folders(Path(folder or builtin_folder()))
    cases = [case for found in folders for case in read_cases(found)]
    told = [(case, try_case(case, rules)) for case in cases]
    lines = [f"{case}: {problem} ({case.place})" for case, problem in told if problem]
    return Outcome(len(cases), len(lines), [*lines, *missing_cases(own, cases)])
