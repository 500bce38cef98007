"""Signals of fits whose levels are worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from envcheck.localisation.signals import signals_of


def _fit(**changes: Any) -> dict[str, Any]:
    """Return a fit: one output with null loss ln 10, batch losses from 2.3 to 0.23."""
    fit: dict[str, Any] = {
        "id": "f0",
        "losses": [{"output": None, "name": "sparse_categorical_crossentropy", "weight": None}],
        "null_loss": [{"output": None, "value": math.log(10), "kind": "label-entropy"}],
        "curves": {
            "batch": {"loss": [math.log(10) * 0.98**i for i in range(100)]},
            "epoch": {"loss": [1.0, 0.5], "val_loss": [1.1, 0.6], "val_accuracy": [0.6, 0.8]},
        },
    }
    return {**fit, **changes}


def test_level_on_validation_data() -> None:
    """The last validation loss over the label entropy."""
    assert signals_of(_fit()).level == pytest.approx(0.6 / math.log(10))


def test_level_on_training_data() -> None:
    """Without validation: the median of the last ten batches, 0.98^94.5 in the middle."""
    fit = _fit()
    del fit["curves"]["epoch"]["val_loss"]
    expected = (0.98**94 + 0.98**95) / 2
    assert signals_of(fit).level == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"null_loss": []}, None),
        ({"custom_train_step": True}, None),
        ({"losses": []}, None),
    ],
)
def test_level_unknown(changes: dict[str, Any], told: None) -> None:
    """Where the null loss does not belong to the loss, there is no level."""
    assert signals_of(_fit(**changes)).level is told


@pytest.mark.parametrize(
    ("share", "word"), [(0.05, "good"), (0.3, "middling"), (0.7, "poor"), (1.0, "none")]
)
def test_performance_by_level(share: float, word: str) -> None:
    """The bounds are 0.1, 0.5 and 0.97."""
    fit = _fit()
    fit["curves"]["epoch"] = {"val_loss": [share * math.log(10)]}
    assert signals_of(fit).performance == word


def test_performance_by_accuracy() -> None:
    """98 % accuracy is good whatever the level of the loss."""
    fit = _fit()
    fit["curves"]["epoch"] = {"val_loss": [2.0], "val_accuracy": [0.98]}
    assert signals_of(fit).performance == "good"


def test_performance_of_a_broken_run() -> None:
    """A NaN in the batch losses outweighs everything."""
    fit = _fit()
    fit["curves"]["batch"]["loss"][50] = math.nan
    signals = signals_of(fit)
    assert (signals.curve, signals.performance) == ("nonfinite", "none")


def test_performance_unknown() -> None:
    """No level and no accuracy: nothing is said."""
    fit = _fit(null_loss=[])
    fit["curves"]["epoch"] = {}
    assert signals_of(fit).performance == "undetermined"


def test_still_falling() -> None:
    """2 % per step over 20 steps is a fall beyond doubt."""
    assert signals_of(_fit()).still_falling is True


def test_one_batch() -> None:
    """One batch has a level and no direction."""
    fit = _fit()
    fit["curves"] = {"batch": {"loss": [2.0]}, "epoch": {"loss": [2.0]}}
    signals = signals_of(fit)
    assert (signals.curve, signals.still_falling, signals.oscillation) == (None, None, None)


def test_validation_minimum() -> None:
    """Lowest after 2 of 4 epochs, and 50 % higher at the end."""
    fit = _fit()
    fit["curves"]["epoch"] = {"val_loss": [0.9, 0.4, 0.5, 0.6]}
    signals = signals_of(fit)
    assert signals.validation_minimum_at == 0.5
    assert signals.validation_rise == pytest.approx(0.5)


def test_a_high_accuracy_that_one_class_alone_gives() -> None:
    """98 % right where 97.5 % are of one class is no good fit; 99.5 % is."""
    fit = _fit(data={"targets": [{"class_counts": [975, 25]}]})
    fit["curves"]["epoch"] = {"val_loss": [2.0], "val_accuracy": [0.98]}
    assert signals_of(fit).performance == "poor"
    fit["curves"]["epoch"]["val_accuracy"] = [0.995]
    assert signals_of(fit).performance == "good"


def test_weighted_rows_have_no_training_level() -> None:
    """The null loss is that of rows that count alike; validation rows do."""
    fit = _fit(class_weight=True)
    assert signals_of(fit).train_level is None
    assert signals_of(fit).validation_level == pytest.approx(0.6 / math.log(10))
