"""What holds for any two fingerprints, however strange."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

import envcheck
from envcheck.fingerprint import Fingerprint
from envcheck.reporting.registry import formats, render
from tests.strategies import fingerprints

GENTLE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@GENTLE
@given(fingerprints(), fingerprints())
def test_any_two_can_be_compared(train: Fingerprint, deploy: Fingerprint) -> None:
    """Any two readable fingerprints give a report in every format, or there were no facts."""
    try:
        report = envcheck.compare(train, deploy)
    except envcheck.NothingChecked:
        assert not (train.facts and deploy.facts)
        return

    for name in formats():
        assert render(report, name).endswith("\n")


@GENTLE
@given(fingerprints())
def test_nothing_differs_from_itself(fingerprint: Fingerprint) -> None:
    """A fingerprint compared with itself has no error and no warning."""
    if not fingerprint.facts:
        return
    report = envcheck.compare(fingerprint, fingerprint)

    assert [item.title for item in report.active if item.severity != "info"] == []


@GENTLE
@given(fingerprints(), fingerprints())
def test_comparing_twice_says_the_same(train: Fingerprint, deploy: Fingerprint) -> None:
    """The report depends on the two fingerprints alone."""
    if train.facts and deploy.facts:
        assert envcheck.compare(train, deploy) == envcheck.compare(train, deploy)
