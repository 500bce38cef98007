"""Record one fit: its settings and data before it starts, its curves and probes while it runs."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.feeding import Feed, probe_rows
from envcheck.localisation.recording.own_loops import keras_trains
from envcheck.localisation.recording.steps import StepRecord

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["FitRecord", "fit_underway", "recorded_fit"]

_underway = threading.local()
_CALLBACKS = 5
"""The place of `callbacks` among the arguments of `fit` after the model."""


def recorded_fit(
    session: Session,
    fit: Callable[..., Any],
    model: Any,
    positional: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    """Call Keras's `fit` and record it."""
    record = None
    recorders = session.guard("fits", lambda: _recorders(named, positional)) or []
    if session.admits(watched=bool(recorders)):
        record = session.guard("fits", lambda: FitRecord(session, fit, model, positional, named))
    if record is None:
        with keras_trains():
            return fit(model, *positional, **named)
    for recorder in recorders:
        recorder.watches(record)
    stack = _stack()
    stack.append(record)
    try:
        with keras_trains():
            result = fit(model, *positional, **named)
        record.completed = True
        return result
    except BaseException as problem:
        session.fit_failed(problem)
        raise
    finally:
        stack.remove(record)
        session.guard(record.place, record.ended)
        for recorder in recorders:
            session.guard(record.place, recorder.fit_ended)


def _recorders(named: Mapping[str, Any], positional: tuple[Any, ...]) -> list[Any]:
    """Return the `Recorder`s among the callbacks that a fit is called with."""
    given = named.get("callbacks", positional[_CALLBACKS] if len(positional) > _CALLBACKS else None)
    listed = getattr(given, "callbacks", given)
    items = listed if isinstance(listed, list | tuple) else [listed]
    return [item for item in items if getattr(item, "is_envcheck_recorder", False)]


def fit_underway() -> FitRecord | None:
    """Return the fit that the calling thread is in, the innermost one if there are several."""
    stack = _stack()
    return stack[-1] if stack else None


def _stack() -> list[FitRecord]:
    if not hasattr(_underway, "stack"):
        _underway.stack = []
    stack: list[FitRecord] = _underway.stack
    return stack


class FitRecord(StepRecord):
    """One call of `fit`."""

    def __init__(
        self,
        session: Session,
        fit: Callable[..., Any],
        model: Any,
        positional: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> None:
        bound = inspect.signature(fit).bind(model, *positional, **named)
        bound.apply_defaults()
        arguments = dict(list(bound.arguments.items())[1:])
        super().__init__(session, model, "fit", arguments)
        self._feed: Feed | None = None
        self._epoch = 0
        self._batch = 0

    def iterator_made(self, iterator: Any, frame: Any) -> bool:
        """Take the data from the first iterator of a fit; return whether this is it."""
        if self._feed is not None or frame.f_locals.get("self") is not self.model:
            return False
        self._feed = Feed(iterator)
        self.session.guard(f"{self.place}/data", lambda: self._take_data(frame.f_locals))
        return True

    def _take_data(self, local: Mapping[str, Any]) -> None:
        feed = self._feed
        if feed is None:
            return
        validation = None
        if local.get("validation_data") is not None:
            validation = (local.get("val_x"), local.get("val_y"))
        self.data.take(feed, local, validation)

    def claims(self, callbacks: Any) -> bool:
        """Return whether a callback list that begins is that of this fit."""
        return not self.began and getattr(callbacks, "model", None) is self.model

    def train_begin(self) -> None:
        """Describe model, settings and data just before the first step."""
        self.began = True
        feed = self._feed
        if feed is not None and feed.arrays:
            rows = self.session.guard(f"{self.place}/probes", lambda: probe_rows(feed.adapter))
            if rows is not None:
                self.probes.provide(rows)
        self.session.guard(self.place, self.describe)
        self.session.write_if_due()

    def batch_drawn(self, item: tuple[int, int, Any]) -> tuple[int, int, Any]:
        """Look at the batch that is about to be trained on; return what `fit` gets instead.

        Streams are looked at by handing over an equal iterator that holds the batch just taken.
        """
        feed = self._feed
        if feed is None or not feed.wants_more(self.steps):
            return item
        begin, end, iterator = item
        passed, batches = feed.peek(iterator)
        for batch in batches:
            self.session.guard(f"{self.place}/data", partial(self._look_at, batch))
        return begin, end, passed

    def _look_at(self, batch: Any) -> None:
        self.probes.provide(batch)
        self.data.look_at(batch)

    def rows_until(self) -> Callable[[int], int] | None:
        """Return what gives the rows of an epoch up to and with a batch, where that is known."""
        feed = self._feed
        if feed is None or not feed.arrays or self.arguments.get("steps_per_epoch") is not None:
            return None
        size, total = int(feed.adapter.batch_size), int(feed.adapter._num_samples)
        return lambda batch: min((batch + 1) * size, total)

    def epoch_begin(self, epoch: int) -> None:
        """Start an epoch."""
        self._epoch = epoch
        self.start_epoch()

    def batch_begin(self, batch: int) -> None:
        """Probe before a step when it is time to."""
        self._batch = batch
        self.before_step(self._epoch, batch)

    def batch_end(self, batch: int, logs: Any) -> None:
        """Record a step, or several that were executed as one."""
        self.after_step(self._epoch, self._batch, logs, done=batch - self._batch + 1)

    def epoch_end(self, epoch: int, logs: Any) -> None:
        """Record an epoch."""
        self.session.guard(f"{self.place}/curves", lambda: self.curve_of_epochs.add(epoch, logs))
        self.epochs_run += 1
        if self.arguments.get("steps_per_epoch") is None:
            self.data.epoch_ended(self.session.guard(self.place, self.rows_of_epoch))
        self.probe_epoch_end(epoch)
        self.session.write_if_due()
