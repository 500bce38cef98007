"""Curves and scales of the plots: read from anything, placed where arithmetic says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envcheck.reporting.curves import Scale, read_curves
from envcheck.reporting.html_plots import depth_plot, series_plots
from tests.reporting.models import parity_report
from tests.strategies import json_values


def test_a_logarithmic_scale() -> None:
    """Values over more than three decades are placed by their logarithm, between powers of ten."""
    scale = Scale.of([2e-7, 5e-2])

    assert scale.log
    assert [scale.low, scale.high] == pytest.approx([1e-7, 0.1])
    assert scale.at(1e-4) == pytest.approx(0.5)
    assert scale.at(0) == 0
    assert scale.ticks() == pytest.approx([1e-7, 1e-5, 1e-3, 1e-1])


def test_a_linear_scale() -> None:
    """Values close to each other, or with a sign, are placed as they are."""
    scale = Scale.of([0.5, 0.9])

    assert not scale.log
    assert scale.at(0.6) == pytest.approx(0.25)
    assert scale.ticks() == pytest.approx([0.5, 0.7, 0.9])
    assert Scale.of([-1.0, 1e9]).log is False
    assert Scale.of([3.0, 3.0]).at(3.0) == pytest.approx(0.5)


@example([5e-324, 1.7e308])
@example([5e-324])
@example([-1.7976931348623157e308, 1.7976931348623157e308])
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_every_value_has_a_place(values: list[float]) -> None:
    """Whatever is to be shown stands within the plot, in its order."""
    scale = Scale.of(values)
    places = [scale.at(value) for value in sorted(values)]

    assert all(0 <= place <= 1 for place in places)
    assert places == sorted(places)
    assert all(0 <= scale.at(tick) <= 1 for tick in scale.ticks())


def test_what_is_not_finite_is_a_gap() -> None:
    """NaN breaks the line and is marked; the words say how many points are lost."""
    points: list[Any] = [[0, 1.0], [1, 2.0], [2, "NaN"], [3, None], [4, 4.0]]
    (curve,) = read_curves([{"label": "loss", "points": points}])
    plot = series_plots([{"label": "loss", "points": points}])

    assert [y for _, y in curve.points] == [1.0, 2.0, None, None, 4.0]
    assert curve.in_words() == (
        "loss: from 1 at 0 to 4 at 4, least 1, greatest 4; 2 of 5 points not finite"
    )
    (path,) = re.findall(r'<path class="natural" d="([^"]*)"', plot)
    assert path.count("M") == 2
    assert plot.count('class="culprit"') == 2


@given(st.lists(json_values(), max_size=4))
def test_any_series_is_plotted_or_left_out(series: list[Any]) -> None:
    """Whatever a report holds as a series, there is a plot or none, and no error."""
    assert series_plots(series).count("<svg") == len(read_curves(series))


def test_the_depth_plot_stands_on_its_numbers() -> None:
    """The culprit at call 6 of 7 with an error of 4.3e-2 stands where both scales put it."""
    plot = depth_plot(parity_report().parity or {})
    dots = re.findall(r'<circle class="natural" cx="([\d.]+)" cy="([\d.]+)"', plot)
    x, y = map(float, dots[5])

    # The area is 366 wide from 46 on and 200 high down to 218; x runs from 0.5 to 7.5, and y from
    # 1e-9, since three layers have an error of 0, to 1e-1. log10(0.04314) is -1.3651.
    assert x == pytest.approx(46 + 366 * 5.5 / 7, abs=0.06)
    assert y == pytest.approx(218 - 200 * (9 - 1.3651) / 8, abs=0.06)
    assert f'<line class="culprit" x1="{x:.1f}"' in plot
    assert ">hidden</text>" in plot
    assert plot.count('class="noise"') == 1


def test_no_errors_no_plot() -> None:
    """Where no size is known there is nothing to draw."""
    parity = dict(parity_report().parity or {})
    blank = dict.fromkeys(("natural_error", "local_error", "noise", "ratio"))
    parity["layers"] = [{**row, **blank} for row in parity["layers"]]

    assert depth_plot(parity) == ""
    assert depth_plot({**parity, "layers": []}) == ""
