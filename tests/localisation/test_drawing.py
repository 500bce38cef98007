"""What a plot shows, with points worked out by hand."""

from __future__ import annotations

import math
from typing import Any

from envcheck.localisation.drawing import series_of
from envcheck.localisation.graph import Place, TrainingGraph
from envcheck.localisation.training_log import TrainingLog


def _graph(**curves: Any) -> TrainingGraph:
    fit = {"id": "f0", "steps": 100, "curves": curves}
    return TrainingGraph(TrainingLog({"fits": [fit]}))


def test_a_long_curve_is_thinned() -> None:
    """100 points become 50: the median of two neighbours, at the second one's step."""
    batch = {"step": list(range(100)), "loss": [float(100 - i) for i in range(100)]}
    (line,) = series_of(_graph(batch=batch), Place(fit="f0"))
    assert line["label"] == "training loss"
    assert len(line["points"]) == 50
    assert line["points"][:2] == [[1, 99.5], [3, 97.5]]


def test_validation_losses_stand_at_the_ends_of_epochs() -> None:
    """Two epochs of 50 steps; a NaN is left out of the training loss."""
    batch = {"step": [0, 1, 2], "loss": [2.0, math.nan, 1.0]}
    lines = series_of(_graph(batch=batch, epoch={"val_loss": [0.9, 0.8]}), Place(fit="f0"))
    assert [line["points"] for line in lines] == [[[0, 2.0], [2, 1.0]], [[50, 0.9], [100, 0.8]]]


def test_nothing_to_draw() -> None:
    """One point is no line, and a layer of a model without a fit has none."""
    batch = {"step": [0], "loss": [2.0]}
    assert series_of(_graph(batch=batch), Place(fit="f0")) == ()
    assert series_of(_graph(), Place(model="m0", layer="dense")) == ()
