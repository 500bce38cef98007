"""Curves keep what they are given, and no more than fits."""

from __future__ import annotations

import math

from envcheck.localisation.recording.curves import MOST_POINTS, BatchCurve, EpochCurve


def test_points_are_thinned_evenly() -> None:
    """After many steps at most 4096 points are left, evenly spaced, each with its own value."""
    curve = BatchCurve()
    for step in range(3 * MOST_POINTS):
        if curve.wants(step):
            curve.add(step, step // 100, float(step), {"accuracy": step / 10})

    kept = curve.document()
    assert len(kept["step"]) <= MOST_POINTS
    assert curve.stride == 4
    assert kept["step"] == list(range(0, 3 * MOST_POINTS, 4))
    assert kept["loss"] == [float(step) for step in kept["step"]]
    assert kept["epoch"] == [step // 100 for step in kept["step"]]
    assert kept["metrics"]["accuracy"] == [step / 10 for step in kept["step"]]


def test_a_metric_that_appears_late_is_missing_before() -> None:
    """Missing is None, never 0."""
    curve = BatchCurve()
    curve.add(0, 0, 1.0, {})
    curve.add(1, 0, 0.5, {"accuracy": 0.25})
    curve.add(2, 0, 0.4, {})

    assert curve.document()["metrics"] == {"accuracy": [None, 0.25, None]}


def test_the_first_loss_that_is_not_finite_is_noted_once() -> None:
    """Where the loss broke stays what it was when it broke."""
    curve = BatchCurve()

    assert not curve.note_loss(4, 1, 0, 2.0)
    assert curve.note_loss(5, 1, 1, math.inf)
    assert not curve.note_loss(6, 1, 2, math.nan)
    assert curve.first_nonfinite == {"step": 5, "epoch": 1, "batch": 1}


def test_epochs_without_validation_have_none_there() -> None:
    """`validation_freq` leaves epochs without values; the columns stay as long as the epochs."""
    curve = EpochCurve()
    curve.add(0, {"loss": 1.0})
    curve.add(1, {"loss": 0.5, "val_loss": 0.75})

    assert curve.document() == {"epoch": [0, 1], "loss": [1.0, 0.5], "val_loss": [None, 0.75]}
    assert EpochCurve().document() == {"epoch": [], "loss": [], "val_loss": []}
