"""What the curves of a fit say, as facts: level, performance, direction, what is left to gain.

Levels are null-normalised: the loss divided by what the best constant prediction would give
(label entropy, variance …), so that 1 is guessing and 0 is perfect whatever the task.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.curves import blocks_of, direction, tail_of, turns
from envcheck.localisation.training_log import number, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph

__all__ = ["Signals", "add_signals", "signals_of"]

GOOD = 0.1
MIDDLING = 0.5
NONE = 0.97
"""Levels below which a fit is good or middling, and from which on it has learned nothing."""
CEILING = 0.97
"""Accuracy from which on a fit is good whatever its loss."""
_FALLING = 0.05
_OSCILLATING = 0.4
_LAST = 10
"""The end of a curve is its last tenth."""


@dataclass(frozen=True, kw_only=True)
class Signals:
    """The signals of one fit; None is "not known"."""

    train_level: float | None
    validation_level: float | None
    accuracy: float | None
    curve: str | None
    oscillation: float | None
    tail_drop: float | None
    still_falling: bool | None
    validation_minimum_at: float | None
    validation_rise: float | None
    majority: float | None = None
    """The accuracy of always naming the largest class."""

    @property
    def level(self) -> float | None:
        """The level on validation data, or else on training data."""
        return self.train_level if self.validation_level is None else self.validation_level

    @property
    def at_ceiling(self) -> bool:
        """Whether the accuracy is high, and not because one class is nearly all there is."""
        if self.accuracy is None or self.accuracy < CEILING:
            return False
        return self.majority is None or 1 - self.accuracy <= 0.5 * (1 - self.majority)

    @property
    def performance(self) -> str:
        """One of good, middling, poor, none and undetermined."""
        if self.curve == "nonfinite":
            return "none"
        if self.at_ceiling:
            return "good"
        level = self.level
        if level is None:
            return "undetermined"
        bounds = ((GOOD, "good"), (MIDDLING, "middling"), (NONE, "poor"))
        return next((word for bound, word in bounds if level < bound), "none")


def signals_of(fit: Mapping[str, Any]) -> Signals:
    """Return the signals of a fit of a training log."""
    curves = fit.get("curves") or {}
    epochs = curves.get("epoch") or {}
    recorded = (curves.get("batch") or {}).get("loss") or epochs.get("loss") or ()
    losses = numbers(recorded)
    null = _null(fit)
    blocks = blocks_of(losses)
    tail = tail_of(losses)
    validation = numbers(epochs.get("val_loss"))
    minimum_at, rise = _validation(validation)
    return Signals(
        train_level=None if _is_weighted(fit) else _level(_end(losses), null),
        validation_level=_level(validation[-1] if validation else None, null),
        accuracy=_accuracy(epochs),
        curve=_curve(curves, recorded, blocks),
        oscillation=None if blocks is None else turns(blocks),
        tail_drop=None if tail is None else tail.drop,
        still_falling=None if tail is None else tail.certain and tail.drop >= _FALLING,
        validation_minimum_at=minimum_at,
        validation_rise=rise,
        majority=_majority(fit),
    )


def _is_weighted(fit: Mapping[str, Any]) -> bool:
    """Tell whether rows count differently in the training loss, so that no null loss fits it."""
    return bool(fit.get("class_weight") or fit.get("sample_weight"))


def _null(fit: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return what the best constant prediction and the right answer would lose, or None.

    Both are summed over all outputs. Where labels are probabilities, the right answer has a loss
    too: the entropy of the labels.
    """
    losses = fit.get("losses") or ()
    found = {item.get("output"): item for item in fit.get("null_loss") or ()}
    if not losses or fit.get("custom_train_step") or fit.get("custom_loss_method"):
        return None
    total = least = 0.0
    for loss in losses:
        item = found.get(loss.get("output")) or {}
        value, floor = number(item.get("value")), number(item.get("floor", 0.0))
        if value is None or floor is None or loss.get("custom"):
            return None
        weight = number(loss.get("weight"))
        total += value * (1.0 if weight is None else weight)
        least += floor * (1.0 if weight is None else weight)
    return (total, least) if total > least else None


def _end(losses: list[float]) -> float | None:
    """Return the median of the last tenth of a curve."""
    if not losses:
        return None
    return statistics.median(losses[-max(1, len(losses) // _LAST) :])


def _level(loss: float | None, null: tuple[float, float] | None) -> float | None:
    if loss is None or null is None:
        return None
    total, least = null
    return (loss - least) / (total - least)


def _accuracy(epochs: Mapping[str, Any]) -> float | None:
    """Return the last accuracy, on validation data where there is some; the lowest of several."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for name, values in epochs.items():
        if not name.endswith(("accuracy", "acc")):
            continue
        last = numbers(values)[-1:]
        found[name.startswith("val_")] += last
    chosen = found[True] or found[False]
    return min(chosen) if chosen else None


def _majority(fit: Mapping[str, Any]) -> float | None:
    """Return the largest share that a class has in a target; None where no classes are counted."""
    shares = []
    for target in (fit.get("data") or {}).get("targets") or ():
        counts = numbers(target.get("class_counts"))
        if counts and sum(counts) > 0:
            shares.append(max(counts) / sum(counts))
    return max(shares, default=None)


def _curve(curves: Mapping[str, Any], recorded: Any, blocks: Any) -> str | None:
    """Return the word for a curve of losses."""
    if curves.get("first_nonfinite_loss") or any(_is_broken(value) for value in recorded):
        return "nonfinite"
    if blocks is None:
        return None
    if turns(blocks) >= _OSCILLATING:
        return "oscillating"
    return direction(blocks)


def _is_broken(value: Any) -> bool:
    return isinstance(value, float) and number(value) is None


def _validation(losses: list[float]) -> tuple[float | None, float | None]:
    """Return where the validation loss was lowest, and how much it rose from there."""
    if len(losses) < 3:
        return None, None
    lowest = min(losses)
    at = (losses.index(lowest) + 1) / len(losses)
    return at, (losses[-1] - lowest) / abs(lowest) if lowest else None


def add_signals(graph: TrainingGraph) -> dict[str, Signals]:
    """Assert the signals of every fit, and return them by the id of the fit."""
    found = {}
    for index, fit in enumerate(graph.log.fits):
        signals = found[fit["id"]] = signals_of(fit)
        _assert(graph, f"fit:{fit['id']}", signals, f"fits/{index}/curves")
        for word, key in (("stepsDone", "steps"), ("epochsRun", "epochs_run")):
            value = number(fit.get(key))
            if value is not None:
                graph.put_value(f"fit:{fit['id']}", word, int(value), f"fits/{index}/{key}")
    return found


def _assert(graph: TrainingGraph, subject: str, signals: Signals, source: str) -> None:
    graph.put(subject, "performance", f"ec:{signals.performance}", source)
    graph.put(subject, "lossCurve", f"ec:{signals.curve or 'undetermined'}", source)
    if signals.still_falling is not None:
        graph.put_value(subject, "stillFalling", signals.still_falling, source)
    gap = None
    if signals.train_level is not None and signals.validation_level is not None:
        gap = signals.validation_level - signals.train_level
    values = {
        "level": signals.level,
        "tailDrop": signals.tail_drop,
        "oscillation": signals.oscillation,
        "generalisationGap": gap,
        "validationMinimumAt": signals.validation_minimum_at,
        "validationRise": signals.validation_rise,
    }
    for word, value in values.items():
        if value is not None:
            graph.put_value(subject, word, round(value, 6), source)
