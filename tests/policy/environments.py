"""Pairs of environments whose findings are known by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

from envcheck.comparing.compare import compare_fingerprints
from envcheck.facts import Fact, ok
from envcheck.findings import Finding, Report
from envcheck.fingerprint import Fingerprint
from envcheck.policy import Policy, Waiver

TODAY = date(2026, 11, 30)
COMPLETE = {"complete": True, "kind": "installed", "count": 0}
BASE = {
    "cpu.architecture": ok("x86_64"),
    "os.system": ok("linux"),
    "python.implementation": ok("cpython"),
    "python.version": ok("3.11.7"),
    "python.packages": ok(COMPLETE),
}


def side(facts: dict[str, Fact] | None = None, **versions: str) -> Fingerprint:
    """Return a Linux environment with the given packages; `_` stands for `-` in names."""
    packages = {
        f"package.{name.replace('_', '-')}": ok({"version": version, "requires": []})
        for name, version in versions.items()
    }
    return Fingerprint({**BASE, **packages, **(facts or {})}, {})


TRAIN = side(numpy="1.26.4", keras="3.3.0", pandas="2.0.0", certifi="2024.7.4")
DEPLOY = side(
    {"python.version": ok("3.12.1"), "cpu.architecture": ok("AMD64")},
    numpy="2.0.0",
    keras="3.4.0",
    pandas="2.0",
    certifi="2024.8.30",
)
"""Against TRAIN: ENV042 numpy, ENV040 keras and ENV070 Python are warnings, ENV058 certifi info."""


def judged(
    policy: Policy | None = None,
    train: Fingerprint = TRAIN,
    deploy: Fingerprint = DEPLOY,
    **options: Any,
) -> Report:
    """Return the report of a pair under a policy."""
    return compare_fingerprints(train, deploy, policy=policy, **options)


def policy(**members: Any) -> Policy:
    """Return a policy on the day of these tests."""
    return Policy(today=TODAY, **members)


def waiver(rule: str, fact: str = "", expires: date = date(2026, 12, 31), **more: Any) -> Waiver:
    """Return a waiver that holds on the day of these tests."""
    return Waiver(rule=rule, fact=fact, reason="accepted", expires=expires, **more)


def rows(report: Report) -> list[tuple[str, str, str]]:
    """Return severity, rule and subject of every finding that counts, sorted."""
    return sorted((one.severity, one.rule, one.subject) for one in report.active)


def the(report: Report, rule: str) -> Finding:
    """Return the only finding of a rule."""
    found = [finding for finding in report.findings if finding.rule == rule]
    assert len(found) == 1, [f"{finding.rule} {finding.subject}" for finding in report.findings]
    return found[0]
