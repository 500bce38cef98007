"""Try the rules on their cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from envcheck.comparing.compare import compare_fingerprints
from envcheck.comparing.rulesets import Rules
from envcheck.rulebook.cases import read_cases
from envcheck.rulebook.casework import CaseResult, missing_cases, run_cases

__all__ = ["Trial", "try_cases"]


@dataclass(frozen=True)
class Trial:
    """The result of every case, and a sentence for each rule that lacks some."""

    results: tuple[CaseResult, ...]
    missing: tuple[str, ...]


def try_cases(folders: Iterable[Path], rules: Rules, own: Sequence[str]) -> Trial:
    """Run the cases of some folders; `own` names the rules that must have cases."""
    cases = [case for folder in folders for case in read_cases(folder)]
    results = run_cases(cases, partial(compare_fingerprints, rules=rules))
    return Trial(tuple(results), tuple(missing_cases(own, cases)))
