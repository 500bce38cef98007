"""The document of one fit, without a framework."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import pytest

from envcheck.localisation.recording.session import Session
from envcheck.localisation.recording.steps import StepRecord


@pytest.fixture
def record() -> StepRecord:
    """Return the record of a fit that has not begun."""
    session = Session("train.py", time.time())
    model: Any = SimpleNamespace(built=False, metrics=[])
    return StepRecord(session, model, "fit", {})


def test_statistics_of_traces(record: StepRecord) -> None:
    """The document holds the eight statistics of each curve."""
    for epoch, loss in enumerate((4.0, 1.0, 1.0)):
        record.curve_of_epochs.add(epoch, {"loss": loss})
        record._curve.add(epoch, epoch, math.nan if epoch == 2 else 2.0 * loss, {})

    statistics = record.document()["statistics"]

    # Of 4, 1, 1: mean 2, sum of squares 6, so the variance is 3; G1 of (2, -1, -1) is sqrt(3).
    assert statistics["loss"] == pytest.approx(
        {"min": 1.0, "max": 4.0, "median": 1.0, "mean": 2.0, "var": 3.0, "std": math.sqrt(3),
         "skew": math.sqrt(3), "sem": 1.0}
    )  # fmt: skip
    assert statistics["batch_loss"]["mean"] == 5.0
    assert statistics["batch_loss"]["skew"] is None


class _Prober:
    """Notes whether an update was asked for."""

    asked = 0

    def after_step(self) -> None:
        """Note it."""
        self.asked += 1


@pytest.mark.parametrize(("done", "asked"), [(1, 1), (8, 0)])
def test_no_update_of_several_steps(record: StepRecord, done: int, asked: int) -> None:
    """The update of a weight is measured over one step alone."""
    prober = _Prober()
    record.probes._prober, record.probes._around_step = prober, True

    record.probes.after_step(done)
    record.probes.after_step(1)

    assert prober.asked == asked
