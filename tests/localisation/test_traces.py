"""The traces of a fit, from a log whose values are made up."""

from __future__ import annotations

import math
from typing import Any

import pytest

from envcheck.localisation.traces import trace_statistics, traces_of


def _probe(first: float, last: float, dead: float) -> dict[str, Any]:
    return {
        "loss": first,
        "layers": [{"dead_share": None}, {"dead_share": dead}],
        "weights": [
            {"name": "kernel", "gradient_norm": first, "mean_abs": 0.1, "max_abs": 2.0},
            {"name": "bias", "gradient_norm": 9.0, "mean_abs": 0.3, "max_abs": 1.0},
            {"name": "kernel", "gradient_norm": last, "mean_abs": 0.2, "max_abs": 5.0},
        ],
    }


_FIT: dict[str, Any] = {
    "curves": {"epoch": {"epoch": [0, 1], "loss": [2.0, 1.0], "val_loss": [None, 3.0]},
               "batch": {"loss": [3.0, math.nan, 1.0]}},
    "probes": [_probe(1.0, 4.0, 0.5), _probe(2.0, 0.0, 0.25)],
}  # fmt: skip


def test_curves_are_traces() -> None:
    """Each curve with its gaps; the numbers of the epochs are no curve."""
    traces = traces_of(_FIT)
    assert traces["loss"] == [2.0, 1.0]
    assert traces["val_loss"] == [None, 3.0]
    assert traces["batch_loss"] == [3.0, None, 1.0]
    assert "epoch" not in traces


def test_probes_are_traces() -> None:
    """Means and largest values over the variables; the growth compares kernels alone."""
    traces = traces_of(_FIT)
    assert traces["gradient_growth"] == [0.25, None]  # 1/4, and nothing over 0
    assert traces["weight_mean"] == [pytest.approx(0.2), pytest.approx(0.2)]
    assert traces["weight_max"] == [5.0, 5.0]
    assert traces["dead_share"] == [0.5, 0.25]
    assert "saturated_share" not in traces


def test_statistics() -> None:
    """One epoch of validation: a mean and no variance."""
    told = trace_statistics(_FIT)
    assert told["val_loss"]["mean"] == 3.0
    assert told["val_loss"]["var"] is None
    assert told["loss"]["var"] == pytest.approx(0.5)


def test_nothing_recorded() -> None:
    """An empty fit has no traces."""
    assert trace_statistics({}) == {}
