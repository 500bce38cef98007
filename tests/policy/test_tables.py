"""The tables of the policy rules keep up with the other rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.comparing.compare import builtin_rules
from envcheck.comparing.judging import judges_environments
from envcheck.configuration.profiles import SHIPPED
from envcheck.policy import DRIFTS
from envcheck.versions import DISTANCES
from tests.configuration.files import load

if TYPE_CHECKING:
    from pathlib import Path

RULES = builtin_rules()
TABLES = {triple for triple, _ in RULES.facts}
ON_DRIFT = {o[5:] for _, p, o in TABLES if p in ("ec:warnedOfBy", "ec:refusedBy")}


def test_every_rule_about_drift_is_listed() -> None:
    """A rule that reads how far versions lie apart is one that an allowed drift lowers."""
    reads = {"ec:distance", "ec:releasesApart", "ec:pickleBreak", "ec:picklePartialBreak"}
    about_drift = {
        implication.rule
        for implication in RULES.implications
        if any(predicate == "ec:violates" for _, predicate, _ in implication.heads)
        and reads & {predicate for _, predicate, _ in implication.patterns}
    }

    assert about_drift - {"ENV090"} == ON_DRIFT


def test_errors_refuse_and_warnings_warn() -> None:
    """A rule stands in the table of its own severity."""
    for rule in ON_DRIFT:
        table = "ec:refusedBy" if RULES.rule(rule).severity == "error" else "ec:warnedOfBy"
        assert ("ec:versionDrift", table, f"rule:{rule}") in TABLES


def test_every_distance_is_decided() -> None:
    """Each limit admits or forbids each distance, local labels and odd versions left out."""
    for limit in DRIFTS:
        node = f"ec:drift{limit.capitalize()}"
        admitted = {o[3:] for s, p, o in TABLES if s == node and p == "ec:admits"}
        exceeded = {o[3:] for s, p, o in TABLES if s == node and p == "ec:exceededBy"}
        free = {"local", "unordered"} if limit in ("patch", "minor", "major") else set()

        assert admitted & exceeded == set()
        assert admitted | exceeded == {*DISTANCES, "unordered"} - free


def test_bit_exact_names_every_role_on_the_path(tmp_path: Path) -> None:
    """No role between input and prediction may drift in that profile."""
    on_path = {s for s, p, _ in TABLES if p == "ec:onModelPath"}
    policy = load(tmp_path, options={"profile": "bit-exact"}).policy

    assert {key for key, limit in policy.drift.items() if limit == "none"} == on_path


def test_rules_that_report_on_the_policy_are_no_judges() -> None:
    """They are not counted, cannot be waived, and have no profile."""
    silent = set(RULES.ids) - set(judges_environments(RULES, RULES.ids))

    assert silent == {"ENV095", "ENV096", "ENV097", "ENV099"}
    assert {RULES.rule(rule).profile for rule in RULES.ids} <= {"", *SHIPPED}
