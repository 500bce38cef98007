"""Record `train_on_batch`: the calls on one model and optimiser make one series of steps."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.own_loops import keras_trains
from envcheck.localisation.recording.steps import StepRecord

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["recorded_batch"]

_LOOKED_AT = 64
"""Batches whose data are described."""


def recorded_batch(
    session: Session,
    once: Callable[..., Any],
    model: Any,
    positional: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Any:
    """Call Keras's `train_on_batch` and record it."""
    record = session.guard("fits", lambda: _series_of(session, once, model, positional, named))
    if record is None:
        with keras_trains():
            return once(model, *positional, **named)
    record.model = model
    session.guard(record.place, record.step_begins)
    try:
        with keras_trains():
            logs = once(model, **{**record.arguments, "return_dict": True})
        asked = record.arguments.get("return_dict")
        session.guard(record.place, lambda: record.step_done(logs))
        return logs if asked else model._flatten_metrics_in_order(logs)
    finally:
        record.model = None
        record.arguments = {}


def _series_of(
    session: Session,
    once: Callable[..., Any],
    model: Any,
    positional: tuple[Any, ...],
    named: Mapping[str, Any],
) -> BatchSeries | None:
    bound = inspect.signature(once).bind(model, *positional, **named)
    bound.apply_defaults()
    arguments = dict(list(bound.arguments.items())[1:])
    for fit in session.fits:
        if isinstance(fit, BatchSeries) and fit.is_on(model):
            fit.arguments = arguments
            return fit
    return BatchSeries(session, model, arguments) if session.admits() else None


class BatchSeries(StepRecord):
    """All calls of `train_on_batch` on one model with one optimiser."""

    def __init__(self, session: Session, model: Any, arguments: Mapping[str, Any]) -> None:
        super().__init__(session, model, "train_on_batch", arguments)
        self._reference = weakref.ref(model)
        self._optimiser = id(model.optimizer)
        self._looked_at = 0

    def is_on(self, model: Any) -> bool:
        """Return whether this is the series of a model as it is compiled now."""
        known = self._reference()
        return known is not None and known is model and self._optimiser == id(known.optimizer)

    def step_begins(self) -> None:
        """Look at the batch, describe everything before the first step, and probe."""
        batch = tuple(self.arguments.get(name) for name in ("x", "y", "sample_weight"))
        if self._looked_at < _LOOKED_AT:
            self._looked_at += 1
            self.probes.provide(batch)
            self.session.guard(f"{self.place}/data", lambda: self.data.look_at(batch))
        if not self.began:
            self.began = True
            self.describe()
        self.before_step(0, self.steps)

    def step_done(self, logs: Mapping[str, Any]) -> None:
        """Record what the call returned; the metrics of Keras begin anew with each call."""
        self.start_epoch()
        self.after_step(0, self.steps, logs, done=1)

    def close(self) -> None:
        """Make the last probe if the model is still there."""
        self.model = self._reference()
        self.completed = True
        if self.model is None:
            self.data.close()
        else:
            self.ended()
