"""The baseline: what it accepts, what its file looks like, and how it shrinks."""

from __future__ import annotations

import pytest

from envcheck.errors import ConfigError
from envcheck.facts import Fact, ok
from envcheck.policy.baseline import Baseline, BaselineEntry, baseline_text, parse_baseline
from tests.policy.environments import DEPLOY, TRAIN, judged, policy, rows, side, the, waiver

TEXT = """\
{"schema": "envcheck.baseline/1", "entries": [
{"rule": "ENV040", "subject": "package.keras", "train": "3.3", "deploy": "3.4"},
{"rule": "ENV042", "subject": "package.numpy", "train": "1.26.4", "deploy": "2"},
{"rule": "ENV058", "subject": "package.certifi", "train": "2024.7.4", "deploy": "2024.8.30"},
{"rule": "ENV070", "subject": "python.version", "train": "3.11.7", "deploy": "3.12.1"}
]}
"""


def baseline(text: str = TEXT) -> Baseline:
    """Return a baseline as it is read from a file."""
    return parse_baseline(text, "base.json")


def test_the_file_has_one_entry_per_line() -> None:
    """Rule, subject and the two normalised values, sorted."""
    assert baseline_text(judged().findings) == TEXT


def test_what_is_in_the_baseline_does_not_count() -> None:
    """Each of its findings is listed as waived, and says by what."""
    report = judged(policy(baseline=baseline()))

    assert report.active == ()
    assert {finding.waived for finding in report.findings} == {"in the baseline (base.json)"}


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("2.0.0", True), ("2.0", True), ("2.0.0.0", True), ("2.0.1", False), ("3.0.0", False)],
)
def test_a_changed_value_counts_again(version: str, accepted: bool) -> None:
    """Another spelling of the value is the same; another value is a new finding."""
    deploy = side({"python.version": ok("3.12.1")}, numpy=version, keras="3.4.0")
    report = judged(policy(baseline=baseline()), TRAIN, deploy)

    assert bool(the(report, "ENV042").waived) == accepted


def test_an_architecture_has_one_name() -> None:
    """A baseline that was written against arm64 covers aarch64."""
    arms = [side({"cpu.architecture": ok(name)}) for name in ("arm64", "aarch64")]
    accepted = baseline(baseline_text(judged(None, side(), arms[0]).findings))

    assert judged(policy(baseline=accepted), side(), arms[1]).active == ()


def test_lost_features_are_known_by_what_was_lost() -> None:
    """Features that both sides have do not matter; another lost one does."""

    def cpu(*features: str) -> dict[str, Fact]:
        return {"cpu.features": ok(list(features))}

    old = judged(None, side(cpu("avx", "avx512f")), side(cpu("avx")))
    accepted = policy(baseline=baseline(baseline_text(old.findings)))
    same = judged(accepted, side(cpu("avx", "sse", "avx512f")), side(cpu("avx", "sse")))
    more = judged(accepted, side(cpu("avx", "avx512f")), side(cpu()))

    assert the(same, "ENV021").waived
    assert not the(more, "ENV021").waived


def test_an_entry_that_no_longer_fires_is_reported() -> None:
    """The baseline shrinks: info with the entry's line, an error under strict."""
    fixed = side({"python.version": ok("3.12.1")}, numpy="2.0.0", keras="3.3.0", pandas="2.0.0")
    report = judged(policy(baseline=baseline()), TRAIN, fixed)
    gone = sorted(f.subject for f in report.findings if f.rule == "ENV097")

    assert gone == [
        "baseline-entry.ENV040/package.keras/3.3/3.4",
        "baseline-entry.ENV058/package.certifi/2024.7.4/2024.8.30",
    ]
    assert {f.severity for f in report.findings if f.rule == "ENV097"} == {"info"}
    assert {f.location.line for f in report.findings if f.rule == "ENV097"} == {2, 4}
    strict = judged(policy(baseline=baseline()), TRAIN, fixed, strict=True)
    assert strict.verdict == "does_not_conform"


def test_a_waiver_tells_more_than_the_baseline() -> None:
    """A finding that both accept shows the reason of the waiver, and stays in the baseline."""
    report = judged(policy(baseline=baseline(), waivers=(waiver("ENV042"),)))

    assert the(report, "ENV042").waived.startswith("accepted")


def test_a_new_baseline_keeps_what_the_old_one_accepts() -> None:
    """Written again under itself it is the same; what a waiver accepts is left to the waiver."""
    again = judged(policy(baseline=baseline()))
    assert baseline_text(again.findings) == TEXT

    waived = judged(policy(waivers=(waiver("ENV042"),)))
    assert '"ENV042"' not in baseline_text(waived.findings)


def test_reports_on_the_policy_are_never_baselined() -> None:
    """An unused waiver cannot be accepted away."""
    report = judged(policy(waivers=(waiver("ENV060"),)))

    assert "ENV096" in {finding.rule for finding in report.findings}
    assert "ENV096" not in baseline_text(report.findings)


def test_an_empty_baseline_accepts_nothing() -> None:
    """It is valid, and all findings count."""
    empty = baseline(baseline_text(()))

    assert empty.entries == ()
    assert rows(judged(policy(baseline=empty))) == rows(judged())


def test_findings_of_two_packages_that_need_the_same_are_two() -> None:
    """The requiring package is part of the value."""
    needs = {"requires": ["numpy<2"]}
    one = {"package.keras": ok({"version": "3.3.0", **needs})}
    two = {**one, "package.scipy": ok({"version": "1.11", **needs})}
    before = judged(None, side(one, numpy="1.26"), side(one, numpy="2.0"))
    accepted = policy(baseline=baseline(baseline_text(before.findings)))
    after = judged(accepted, side(two, numpy="1.26"), side(two, numpy="2.0"))

    assert [f.title for f in after.active if f.rule == "ENV053"] == [
        "scipy needs numpy <2, but 2.0 is installed"
    ]


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("", "base.json:1", "is not JSON"),
        ("{\n,", "base.json:2", "is not JSON"),
        ("[]", "base.json", "has schema None"),
        ('{"schema": "envcheck.baseline/2"}', "base.json", "has schema 'envcheck.baseline/2'"),
        ('{"schema": "envcheck.baseline/1"}', "base.json", "has no list of entries"),
        (
            '{"schema": "envcheck.baseline/1", "entries": [1, {"rule": "A", "sub": 2}]}',
            "base.json",
            "entry 1 is not an object\nentry 2: unknown key 'sub'\nentry 2: subject must be",
        ),
    ],
)
def test_a_damaged_file_is_an_error(text: str, place: str, problem: str) -> None:
    """It says where and what, all mistakes at once."""
    with pytest.raises(ConfigError) as caught:
        parse_baseline(text, "base.json")

    assert caught.value.place == place
    assert problem in str(caught.value)


def test_lines_are_found_only_where_each_entry_has_one() -> None:
    """A file that another tool has reformatted is read; its entries stand on line 1."""
    squeezed = TEXT.replace("\n", " ")

    assert baseline(squeezed).lines == (1, 1, 1, 1)
    assert baseline().lines == (2, 3, 4, 5)
    assert baseline(squeezed).entries[0] == BaselineEntry(
        rule="ENV040", subject="package.keras", train="3.3", deploy="3.4"
    )
    assert judged(policy(baseline=baseline(squeezed)), TRAIN, DEPLOY).active == ()
