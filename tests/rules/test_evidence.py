"""What a finding rests on: take it away, and the finding goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.facts import ok
from envcheck.rulebook.cases import ANY_RULE, FIRES
from tests.rules.reading import cases, hits, loud, report, without

if TYPE_CHECKING:
    from envcheck.findings import Evidence, Finding, Report
    from envcheck.fingerprint import Fingerprint
    from envcheck.rulebook.cases import Case, Pair

FIRING = [case for case in cases() if case.expect == FIRES]
IRRELEVANT: dict[str, Any] = {
    "os.kernel_release": "4.4.0",
    "os.container": ["/run/.containerenv"],
    "cpu.model": "another",
    "cpu.logical_count": 128,
    "limits.open_files": 17,
    "limits.memory_total_bytes": 1 << 34,
    "python.path_extras": 3,
    "package.zzz-unheard-of": {"version": "1.0", "requires": [], "tag": "py3-none-any"},
}
"""Facts that no environment rule reads."""


@pytest.mark.parametrize("case", FIRING, ids=str)
def test_evidence_is_facts_of_the_fingerprints(case: Case) -> None:
    """Each piece of evidence is a fact of the side it names."""
    for finding in report(case.pair.train, case.pair.deploy).findings:
        assert finding.evidence, finding.title
        for item in finding.evidence:
            assert item.fact in side_of(case.pair, item).facts, (finding.title, item)


@pytest.mark.parametrize("case", FIRING, ids=str)
def test_without_its_evidence_a_finding_goes(case: Case) -> None:
    """Taking out any fact of the evidence takes the finding back, or what remains rests on others.

    A finding that still named the missing fact would have named it without need.
    """
    for finding in hits(case, report(case.pair.train, case.pair.deploy)):
        for item in finding.evidence:
            left = same(finding, report_without(case.pair, item))
            still = [
                other
                for one in left
                for other in one.evidence
                if (other.fact, other.origin) == (item.fact, item.origin)
            ]
            assert still == [], (finding.title, item)


@pytest.mark.slow
def test_without_its_evidence_any_finding_goes() -> None:
    """The same for all findings of all pairs, each kind once, the harmless ones too."""
    seen = set()
    for case in cases():
        for finding in report(case.pair.train, case.pair.deploy).findings:
            kind = (finding.rule, finding.node, finding.title, str(finding.evidence))
            if kind in seen:
                continue
            seen.add(kind)
            for item in finding.evidence:
                for one in same(finding, report_without(case.pair, item)):
                    named = {(other.fact, other.origin) for other in one.evidence}
                    assert (item.fact, item.origin) not in named, (finding.title, item)


@pytest.mark.parametrize("case", FIRING, ids=str)
def test_facts_outside_the_evidence_do_not_matter(case: Case) -> None:
    """Facts that no rule reads change nothing, on either side."""
    before = [told(item) for item in report(case.pair.train, case.pair.deploy).findings]
    train, deploy = perturbed(case.pair.train), perturbed(case.pair.deploy)

    assert [told(item) for item in report(train, case.pair.deploy).findings if not new(item)] == (
        before
    )
    assert [told(item) for item in report(case.pair.train, deploy).findings] == before


@pytest.mark.parametrize("case", cases(), ids=str)
def test_an_environment_conforms_to_itself(case: Case) -> None:
    """No side of any case gives an error or a warning against itself, or with trifles changed."""
    for side, other in (
        (case.pair.train, perturbed(case.pair.train)),
        (case.pair.deploy, case.pair.deploy),
    ):
        found = report(side, other)
        assert [f"{item.rule} {item.title}" for item in loud(found)] == []


def test_some_harmless_pairs_are_open_and_none_is_loud() -> None:
    """Unknown facts are counted, not taken for differences."""
    masked = next(case for case in cases() if case.name == "a masked /proc")

    assert masked.rule == ANY_RULE
    assert report(masked.pair.train, masked.pair.deploy).undetermined


def side_of(pair: Pair, item: Evidence) -> Fingerprint:
    """Return the side that a piece of evidence comes from."""
    assert item.origin in ("train", "deploy")
    return pair.train if item.origin == "train" else pair.deploy


def report_without(pair: Pair, item: Evidence) -> Report:
    """Return the report on a pair that lacks one fact."""
    if item.origin == "train":
        return report(without(pair.train, item.fact), pair.deploy)
    return report(pair.train, without(pair.deploy, item.fact))


def same(finding: Finding, found: Report) -> list[Finding]:
    """Return the findings of the same rule about the same thing."""
    wanted = (finding.rule, finding.subject, finding.node)
    return [item for item in found.findings if (item.rule, item.subject, item.node) == wanted]


def perturbed(side: Fingerprint) -> Fingerprint:
    """Return a side with facts changed that no rule reads, and the envelope of another day."""
    facts = {**side.facts, **{key: ok(value) for key, value in IRRELEVANT.items()}}
    return replace(side, facts=facts, envelope={"created": "2026-12-24T00:00:00Z"}, place="")


def told(finding: Finding) -> tuple[Any, ...]:
    """Return what a finding says, without its place and rank."""
    return (finding.rule, finding.subject, finding.severity, finding.title, finding.detail)


def new(finding: Finding) -> bool:
    """Return whether a finding is about the package that was only added to the train side."""
    return finding.subject == "package.zzz-unheard-of"
