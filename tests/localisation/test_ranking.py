"""Priors from the counts of the taxonomy."""

from __future__ import annotations

import math

from envcheck.localisation.ranking import prior


def test_prior() -> None:
    """22 cases among 375 items and 25 faults: 23 of 400."""
    assert math.isclose(prior(22, 25), 0.0575)


def test_prior_of_an_uncounted_fault() -> None:
    """Never 0: one of 400."""
    assert math.isclose(prior(None, 25), 0.0025)
