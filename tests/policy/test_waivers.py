"""Waivers: what they silence, when they end, and what is said about those left over."""

from __future__ import annotations

from datetime import date

import pytest

from envcheck.findings import Location
from envcheck.fingerprint import Fingerprint
from envcheck.policy import Policy
from tests.policy.environments import DEPLOY, TODAY, TRAIN, judged, policy, rows, side, the, waiver


def test_a_waived_finding_is_listed_and_does_not_count() -> None:
    """It keeps severity and rank, says why it is waived, and the chain says by what."""
    needs = policy(severity={"ENV070": "error"}, waivers=(waiver("ENV070", owner="ops"),))
    report = judged(needs)
    found = the(report, "ENV070")

    assert report.verdict == "conforms"
    assert (found.severity, found.waived) == ("error", "accepted (ops, until 2026-12-31)")
    assert "waiver:ENV070/* ec:silences fact:python.version, by ENV099" in found.because
    assert report.to_json()["counts"]["waived"] == 1
    assert report.count("error") == 0


@pytest.mark.parametrize(
    ("fact", "silenced"),
    [
        ("", {"package.keras", "package.numpy"}),
        ("package.*", {"package.keras", "package.numpy"}),
        ("package.numpy", {"package.numpy"}),
        ("package.n*", {"package.numpy"}),
        ("package.[kn]*", {"package.keras", "package.numpy"}),
        ("Package.numpy", set()),
        ("numpy", set()),
        ("python.version", set()),
    ],
)
def test_the_glob_chooses_the_facts(fact: str, silenced: set[str]) -> None:
    """A waiver silences its rule for the facts that its glob matches, letter case included."""
    limits = {"numpy": "patch", "keras": "patch"}
    report = judged(policy(drift=limits, waivers=(waiver("ENV090", fact),)))
    waived = {f.subject for f in report.findings if f.waived}

    assert {f.rule for f in report.findings if f.waived} <= {"ENV090"}
    assert waived == silenced


@pytest.mark.parametrize(
    ("expires", "holds"),
    [(date(2026, 11, 29), False), (date(2026, 11, 30), True), (date(2026, 12, 1), True)],
)
def test_a_waiver_holds_up_to_its_last_day(expires: date, holds: bool) -> None:
    """On the day after it the finding counts again, and the waiver is reported."""
    report = judged(policy(waivers=(waiver("ENV042", "package.numpy", expires),)))

    assert bool(the(report, "ENV042").waived) == holds
    assert ("ENV095" in {finding.rule for finding in report.findings}) != holds


def test_an_expired_waiver_is_a_warning_at_its_place() -> None:
    """It names rule, fact, day and reason, and points to its line."""
    over = waiver("ENV042", "package.*", date(2026, 11, 1), place="envcheck.toml:12")
    found = the(judged(policy(waivers=(over,))), "ENV095")

    assert (found.severity, found.category) == ("warning", "setting")
    assert found.title == "The waiver of ENV042 for package.* expired on 2026-11-01"
    assert found.detail.endswith("accepted")
    assert found.location == Location(file="envcheck.toml", line=12)


def test_an_unused_waiver_is_info_and_an_error_under_strict() -> None:
    """Nothing matches it, so it is reported; strict does not let it pass."""
    spare = policy(waivers=(waiver("ENV060", "package.scipy", place="w.toml:3"),))
    found = the(judged(spare), "ENV096")
    strict = judged(spare, strict=True)

    assert (found.severity, found.subject) == ("info", "waiver.ENV060/package.scipy")
    assert found.title == "Nothing matches the waiver of ENV060 for package.scipy"
    assert the(strict, "ENV096").severity == "error"
    assert "env:run ec:strictness ec:strict" in "\n".join(the(strict, "ENV096").because)
    assert strict.verdict == "does_not_conform"


def test_a_used_waiver_is_not_reported() -> None:
    """Also under strict."""
    report = judged(policy(waivers=(waiver("ENV042"),)), strict=True)

    assert {"ENV095", "ENV096"} & {finding.rule for finding in report.findings} == set()


def test_a_waiver_of_an_open_rule_is_kept() -> None:
    """A rule that could not be decided may still need its waiver."""
    report = judged(policy(waivers=(waiver("ENV074"),)))

    assert "ENV074" in {one.rule for one in report.undetermined}
    assert "ENV096" not in {finding.rule for finding in report.findings}


@pytest.mark.parametrize("rule", ["ENV042", "FLD001"])
def test_a_waiver_of_a_rule_that_does_not_run_is_left_alone(rule: str) -> None:
    """A file of waivers may serve several profiles."""
    off = policy(disable=frozenset({"ENV042"}), waivers=(waiver(rule),))

    assert "ENV096" not in {finding.rule for finding in judged(off).findings}


def test_reports_on_waivers_can_be_set_and_disabled() -> None:
    """Their severity and whether they run is policy like any other rule."""
    spare = (waiver("ENV060"),)
    loud = judged(policy(waivers=spare, severity={"ENV096": "error"}))
    quiet = judged(policy(waivers=spare, disable=frozenset({"ENV096"})))

    assert loud.verdict == "does_not_conform"
    assert "ENV096" not in {finding.rule for finding in quiet.findings}


def test_waivers_work_although_reports_on_them_are_disabled() -> None:
    """What silences findings is not what reports on waivers."""
    hushed = frozenset({"ENV095", "ENV096", "ENV097"})
    report = judged(policy(disable=hushed, waivers=(waiver("ENV042"),)))

    assert the(report, "ENV042").waived


def test_reports_on_the_policy_are_no_check() -> None:
    """An unused waiver does not turn nothing checked into a pass."""
    nothing = Fingerprint({}, {})
    report = judged(policy(waivers=(waiver("ENV060"),)), nothing, nothing)

    assert "ENV096" in {finding.rule for finding in report.findings}
    assert report.rules == judged(None, nothing, nothing).rules


def test_several_waivers_each_do_their_part() -> None:
    """One for each rule; what none covers counts."""
    report = judged(policy(waivers=(waiver("ENV042"), waiver("ENV070"))))

    assert rows(report) == [
        ("info", "ENV058", "package.certifi"),
        ("warning", "ENV040", "package.keras"),
    ]


def test_a_finding_on_another_subject_of_the_same_rule_counts() -> None:
    """A waiver for one package does not cover the next one."""
    train, deploy = side(pandas="1.0", pillow="9.0"), side(pandas="2.0", pillow="10.0")
    report = judged(policy(waivers=(waiver("ENV044", "package.pandas"),)), train, deploy)

    assert rows(report) == [("warning", "ENV044", "package.pillow")]


def test_the_clock_is_the_default_day() -> None:
    """Without a day the current one in UTC counts."""
    assert Policy().day >= TODAY or Policy().day.year >= 2024
    old = Policy(waivers=(waiver("ENV042", "", date(2001, 1, 1)),))
    assert not the(judged(old, TRAIN, DEPLOY), "ENV042").waived
