"""The probes of one fit: when they are made, and what they found."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.schedule import ProbeSchedule

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["FitProbes"]


class FitProbes:
    """Probes on the first rows that a fit trains on."""

    def __init__(self, session: Session, model: Any, place: str) -> None:
        self._session = session
        self._model = model
        self._place = f"{place}/probes"
        self._schedule = ProbeSchedule()
        self._batch: Any = None
        self._prober: Any = None
        self._found: list[dict[str, Any]] = []
        self._reason: str | None = None
        self._around_step = False
        self._rows = 0
        self._seconds = 0.0

    def provide(self, batch: Any) -> None:
        """Give the rows to probe on; only the first ones are taken."""
        if self._batch is None and self._prober is None and self._reason is None:
            self._batch = batch

    def before_step(self, step: int, epoch: int, batch: int) -> None:
        """Probe before a step when it is time to, or when a weight has just become NaN."""
        if not self._possible():
            return
        if self._schedule.is_due(step, spent=self._seconds) or self._has_broken(step):
            self._guarded(lambda: self._measure(step, epoch, batch, around_step=True))

    def _has_broken(self, step: int) -> bool:
        """Return whether a weight is no longer finite, and was when last looked at.

        One step later all of them would be: looked at before each of the first steps, then as
        often as the budget allows.
        """
        if self._prober is None or not self._schedule.may_glance(step):
            return False
        begun = time.perf_counter()
        try:
            return bool(self._prober.glance())
        finally:
            self._schedule.note_glance(time.perf_counter() - begun)

    def after_step(self, done: int = 1) -> None:
        """Complete the probe made before the step that has just been done.

        Of several steps `done` in one execution no update is measured: it is not that of one.
        """
        if self._around_step:
            self._around_step = False
            if done == 1:
                self._guarded(self._prober.after_step)

    def epoch_end(self, step: int, epoch: int, batch: int) -> None:
        """Probe at the end of an epoch when that is affordable."""
        if self._possible() and self._schedule.is_due(step, spent=self._seconds, epoch_end=True):
            self._now(step, epoch, batch)

    def at_once(self, step: int, epoch: int, batch: int) -> None:
        """Probe whatever the schedule says: the loss has just ceased to be finite, or the end."""
        if self._possible():
            self._now(step, epoch, batch)

    def _now(self, step: int, epoch: int, batch: int) -> None:
        if not self._found or self._found[-1]["step"] != step:
            self._guarded(lambda: self._measure(step, epoch, batch, around_step=False))

    def close(self) -> None:
        """Let go of the model and the rows."""
        self._model = self._batch = self._prober = None

    def _possible(self) -> bool:
        if self._reason is not None or self._model is None or not self._model.built:
            return False
        return self._batch is not None or self._prober is not None

    def _measure(self, step: int, epoch: int, batch: int, *, around_step: bool) -> None:
        begun = time.perf_counter()
        if self._prober is None:
            self._prober = _prober(self._model, self._batch)
            self._rows, self._batch = self._prober.rows, None
        self._found.append(self._prober.measure(step, epoch, batch))
        self._rows = self._prober.rows
        if around_step:
            self._prober.before_step()
            self._around_step = True
        self._schedule.note(time.perf_counter() - begun)

    def _guarded(self, work: Any) -> None:
        begun = time.perf_counter()
        try:
            work()
        except Exception as problem:  # noqa: BLE001 - a recorder never breaks what it watches
            self._reason = f"{type(problem).__name__}: {problem}"[:300]
            self._session.note_problem(self._place, problem)
            self._around_step = False
            self.close()
        finally:
            self._seconds += time.perf_counter() - begun

    def document(self) -> dict[str, Any]:
        """Return the members `probes`, `probe_rows` and `probing` of a fit."""
        reason = self._reason
        if reason is None and not self._found:
            reason = "no batch of this fit could be looked at"
        return {
            "probes": list(self._found),
            "probe_rows": self._rows,
            "probing": {
                "seconds": round(self._seconds, 4), "skipped": self._schedule.skipped,
                "reason": reason,
            },
        }  # fmt: skip


def _prober(model: Any, batch: Any) -> Any:
    import keras

    from envcheck.localisation.recording.probing import Prober

    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    return Prober(model, x, y, sample_weight)
