"""What the records of `fit` and of `train_on_batch` have in common: settings, steps, probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.curves import BatchCurve, EpochCurve, as_number
from envcheck.localisation.recording.probes import FitProbes
from envcheck.localisation.recording.running_means import BatchValues
from envcheck.localisation.recording.watched_data import WatchedData

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["StepRecord"]


class StepRecord:
    """A series of optimiser steps on one model."""

    def __init__(
        self, session: Session, model: Any, method: str, arguments: Mapping[str, Any]
    ) -> None:
        self.session = session
        self.model: Any = model
        self.method = method
        self.arguments: Mapping[str, Any] = arguments
        self.began = False
        self.completed = False
        self.steps = 0
        self.epochs_run = 0
        self.curve_of_epochs = EpochCurve()
        self._curve = BatchCurve()
        self._values: BatchValues | None = None
        self._settings: dict[str, Any] = {}
        self.model_id: str | None = None
        self._built = False
        self._last = (0, 0)
        self._looked_at_step = -1
        self.place = f"fits/f{len(session.fits)}"
        self.probes = FitProbes(session, model, self.place)
        self.data = WatchedData(session, self.place)
        self.identifier = session.add(self)

    def describe(self) -> None:
        """Describe the model and the settings as they are before the first step."""
        self._built = bool(self.model.built)
        self.model_id = self.session.model_id(self.model)
        self._describe_settings()

    def _describe_settings(self) -> None:
        from envcheck.localisation.recording.settings import describe_settings

        known = self._settings.get("optimiser")  # with the learning rate of the first step
        self._settings = describe_settings(self.model, self.arguments, self.session.sites)
        if known is not None:
            self._settings["optimiser"] = known

    def start_epoch(self) -> None:
        """Start an epoch, in which the running means of Keras begin anew."""
        if self._values is not None:
            self._values.start_epoch()

    def before_step(self, epoch: int, batch: int) -> None:
        """Probe when it is time to; called just before an optimiser step."""
        self.probes.before_step(self.steps, epoch, batch)

    def after_step(self, epoch: int, batch: int, logs: Mapping[str, Any], *, done: int) -> None:
        """Record what Keras logged after `done` optimiser steps."""
        self.probes.after_step(done)
        last = self.steps + done - 1
        self.steps += done
        self._last = (epoch, batch + done - 1)
        self.session.guard(f"{self.place}/curves", lambda: self._record(last, logs))
        if not self._built:
            self._built = True
            self.session.guard(self.place, self._describe_again)
        self.session.write_if_due()

    def _describe_again(self) -> None:
        """Describe a model that was built in its first step."""
        self.model_id = self.session.model_id(self.model, again=True)
        self._describe_settings()

    def _record(self, step: int, logs: Mapping[str, Any]) -> None:
        if self._values is None:
            self._values = BatchValues(self.model, self.rows_until())
        epoch, batch = self._last
        loss = as_number(logs.get("loss"))
        if loss is not None and self._curve.note_loss(step, epoch, batch, loss):
            self.probes.at_once(self.steps, epoch, batch + 1)
        if self._curve.wants(step):
            values = self._values.values(logs, batch)
            self._curve.add(step, epoch, values.pop("loss", None), values)
        elif self._curve.wants(step + 1):
            self._values.remember(logs, batch)
        else:
            return
        self._looked_at_step = step

    def rows_until(self) -> Callable[[int], int] | None:
        """Return what gives the rows of an epoch up to and with a batch, where that is known."""
        return None

    def rows_of_epoch(self) -> int | None:
        """Return the rows of the epoch that has just ended, where they were counted to its end."""
        if self._values is None or self._looked_at_step != self.steps - 1:
            return None
        return self._values.counted_rows()

    def probe_epoch_end(self, epoch: int) -> None:
        """Probe at the end of an epoch when that is affordable."""
        self.probes.epoch_end(self.steps, epoch, self._last[1] + 1)

    def close(self) -> None:
        """End the record; called once, when no step follows."""

    def ended(self) -> None:
        """Make the last probe, note how the fit ended, and let go of model and data."""
        if self.model is None:
            return
        model = self.model
        if self.steps and self.began:
            self.probes.at_once(self.steps, self._last[0], self._last[1] + 1)
        self.session.guard(self.place, lambda: self._note_end(model))
        self.data.close()
        self.probes.close()
        self.model, self.arguments, self._values = None, {}, None
        self.session.write_if_due(ended=True)

    def _note_end(self, model: Any) -> None:
        optimiser = self._settings.get("optimiser")
        if optimiser is not None and model.optimizer is not None:
            optimiser["learning_rate_end"] = as_number(model.optimizer.learning_rate)
        asked = self._settings.get("epochs_asked")
        stopped = self.completed and bool(getattr(model, "stop_training", False))
        self._settings["stopped_early"] = stopped and (asked is None or self.epochs_run < asked)

    def document(self) -> dict[str, Any]:
        """Return the fit as the log holds it."""
        data = self.data.document()
        document = {
            **_DEFAULTS,
            **self._settings,
            "id": self.identifier,
            "model": self.model_id,
            "method": self.method,
            "epochs_run": self.epochs_run,
            "steps": self.steps,
            "completed": self.completed,
            "data": data,
            "null_loss": self._null_losses(data),
            "curves": {
                "batch": self._curve.document(),
                "epoch": self.curve_of_epochs.document(),
                "first_nonfinite_loss": self._curve.first_nonfinite,
                "points_kept_every": self._curve.stride,
            },
            **self.probes.document(),
        }
        found = self.session.guard(f"{self.place}/statistics", lambda: _statistics(document))
        return {**document, "statistics": found or {}}

    def _null_losses(self, data: dict[str, Any] | None) -> list[dict[str, Any]]:
        losses = self._settings.get("losses")
        if data is None or losses is None:
            return []

        def found() -> list[dict[str, Any]]:
            from envcheck.localisation.recording.data import null_losses

            return list(null_losses(data, losses))

        return self.session.guard(f"{self.place}/null_loss", found) or []


def _statistics(fit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the eight statistics of every trace of a fit."""
    from envcheck.localisation.traces import trace_statistics

    return trace_statistics(fit)


_DEFAULTS: dict[str, Any] = {
    "site": None, "compile_site": None,
    "arguments": {}, "losses": [], "optimiser": None, "metrics": [], "callbacks": [],
    "custom_train_step": False, "custom_loss_method": False, "run_eagerly": False,
    "jit_compile": False, "mixed_precision": None, "epochs_asked": None, "initial_epoch": 0,
    "batch_size": None, "steps_per_epoch": None, "shuffle": None, "class_weight": False,
    "sample_weight": False, "validation": "none", "validation_split": None,
    "stopped_early": False,
}  # fmt: skip
