"""The eight statistics, against values worked out by hand and by scipy 1.14."""

from __future__ import annotations

import math

import pytest

from envcheck.localisation.statistics import STATISTICS, describe

_TRACE = [1.0, 2.0, 3.0, 4.0, 10.0]
_EXPECTED = {
    "min": 1.0,
    "max": 10.0,
    "median": 3.0,
    "mean": 4.0,
    "var": 12.5,  # (9 + 4 + 1 + 0 + 36) / 4
    "std": math.sqrt(12.5),
    "sem": math.sqrt(12.5 / 5),
    "skew": 1.6970562748477143,  # scipy.stats.skew(trace, bias=False)
}


@pytest.mark.parametrize("name", STATISTICS)
def test_a_trace(name: str) -> None:
    """Each statistic of a skewed trace."""
    assert describe(_TRACE)[name] == pytest.approx(_EXPECTED[name])


def test_one_epoch_has_no_spread() -> None:
    """What one value cannot tell is missing, not 0."""
    assert describe([0.5]) == {
        "min": 0.5, "max": 0.5, "median": 0.5, "mean": 0.5,
        "var": None, "std": None, "skew": None, "sem": None,
    }  # fmt: skip


def test_two_epochs_have_a_spread_and_no_skew() -> None:
    """Two values: sample variance (1 − 3)²/2, standard error √(2/2)."""
    told = describe([1.0, 3.0])
    assert told["var"] == pytest.approx(2.0)
    assert told["sem"] == pytest.approx(1.0)
    assert told["skew"] is None


def test_a_constant_trace_has_no_skew() -> None:
    """0/0 is missing."""
    assert describe([2.0] * 4)["skew"] is None


def test_values_that_are_no_numbers_are_left_out() -> None:
    """NaN, infinities and gaps do not spoil the rest."""
    assert describe([None, math.nan, 1.0, math.inf, 3.0])["mean"] == 2.0


def test_nothing_known() -> None:
    """An empty trace has no statistics."""
    assert set(describe([]).values()) == {None}
