"""Probe a model that is being trained: statistics of layers, weights, gradients and updates.

A probe runs the model on one fixed small batch in inference mode, without a trace: weights,
seeds, metrics and global random state are bit for bit what they were before.
"""

from __future__ import annotations

import re
import time
from typing import Any

from envcheck.localisation.recording import probe_batch
from envcheck.localisation.recording.probe_paths import model_parts
from envcheck.localisation.recording.probe_reading import read_probe
from envcheck.localisation.recording.probe_running import FORWARD, FULL, WEIGHTS, Run
from envcheck.localisation.recording.probe_updates import Updates, all_finite

__all__ = ["Prober"]

_ELEMENTS = 24_000_000
"""Most values of layers that one probe may hold; more rows than that allows are left out."""

_FEWEST_ROWS = 4


class Prober:
    """Measures a model on a fixed probe batch, without changing it.

    Args:
        model: a built and compiled Keras 3 model on the TensorFlow backend.
        x: inputs of the first training batch, as the model takes them; the first 64 rows serve.
        y: its targets, or None.
        sample_weight: its weights, or None.
        before: the prober of an earlier fit of the same model, whose traced run is used again
            if nothing that it depends on has changed.

    Attributes:
        rows: rows of the probe batch in use.
        seconds: what all probes, tracing included, have cost so far, in seconds.
        reason: why gradients, or also layers, cannot be measured; None when all can.
    """

    def __init__(
        self,
        model: Any,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        before: Prober | None = None,
    ) -> None:
        self.seconds = 0.0
        self.reason: str | None = None
        begun = time.perf_counter()
        self._model = model
        self._batch = probe_batch.prepare(model, x, y, sample_weight)
        self.rows = probe_batch.count_rows(self._batch[0])
        self._broken = probe_batch.nonfinite_shares(self._batch)
        self._parts = model_parts(model)
        self._watched = [v for part in self._parts for v in part.variables]
        self._healthy = True
        self._run: Run | None = None
        self._key: tuple[Any, ...] = ()
        if before is not None and before._model is model:
            self._run, self._key, self.reason = before._run, before._key, before.reason
        self._updates: Updates | None = None
        self._places: list[int] = []
        self._last: dict[str, Any] | None = None
        self.seconds += time.perf_counter() - begun

    def measure(self, step: int, epoch: int, batch: int) -> dict[str, Any]:
        """Return a PROBE of the weights as they are now.

        `step` is the optimiser step about to be done, counted from 0 in this fit. Update ratios
        stay null until `before_step` and `after_step` have been called around that step.
        """
        begun = time.perf_counter()
        try:
            run = self._ready()
            self._last = read_probe(run, run(self._batch), self.rows)
            self._last |= {
                "step": step, "epoch": epoch, "batch": batch, "reason": self.reason,
                **self._broken,
            }  # fmt: skip
            return self._last
        finally:
            self.seconds += time.perf_counter() - begun

    def glance(self) -> bool:
        """Return True the first time that any weight holds NaN or an infinity.

        Costs some microseconds per variable, so that it can be called before every step: one
        step after a weight broke, the gradients have broken all others too.
        """
        begun = time.perf_counter()
        broken = self._healthy and not all(map(all_finite, self._watched))
        self._healthy = self._healthy and not broken
        self.seconds += time.perf_counter() - begun
        return broken

    def before_step(self) -> None:
        """Take samples of the trainable weights; call it just before an optimiser step."""
        begun = time.perf_counter()
        if self._run is not None:
            places = [k for k, w in enumerate(self._run.layout.weights) if w[2].trainable]
            self._places = places
            self._updates = Updates([self._run.layout.weights[k][2] for k in places])
            self._updates.take()
        self.seconds += time.perf_counter() - begun

    def after_step(self) -> None:
        """Write the update ratios of the step just done into the probe measured last."""
        begun = time.perf_counter()
        updates, self._updates = self._updates, None
        if updates is not None and self._last is not None:
            for place, ratio in zip(self._places, updates.ratios(), strict=False):
                self._last["weights"][place]["update_ratio"] = ratio
        self.seconds += time.perf_counter() - begun

    def _ready(self) -> Run:
        """Return the traced run, traced anew when what it depends on has changed."""
        key = self._dependencies()
        if self._run is None or key != self._key:
            self._run = self._traced()
            self._key = self._dependencies()
        return self._run

    def _dependencies(self) -> tuple[Any, ...]:
        model = self._model
        compiled = (getattr(model, "optimizer", None), getattr(model, "_compile_loss", None))
        return (
            probe_batch.specification(self._batch),
            tuple(id(variable) for variable in model.trainable_weights),
            tuple(id(variable) for variable in self._watched),
            tuple(map(id, compiled)),
            bool(model.run_eagerly),
        )

    def _traced(self) -> Run:
        """Trace the fullest run that the model allows; `reason` says what is missing."""
        self.reason = probe_batch.obstacle(self._model)
        if self.reason is None:
            run = self._attempt(FULL)
            if run is not None:
                return run
        told, self.reason = self.reason, None
        run = self._attempt(FORWARD)
        if run is None:
            run = Run(self._model, self._parts, WEIGHTS)
            run.trace(self._batch)
        elif told is not None:
            self.reason = told
        return run

    def _attempt(self, kind: str) -> Run | None:
        """Return a traced run, or None with `reason` set when the model does not allow it."""
        try:
            run = Run(self._model, self._parts, kind)
            if self._model.run_eagerly:
                return run
            run.trace(self._batch)
            share = _ELEMENTS / max(1, run.layout.elements)
            if share < 1.0 and self.rows > _FEWEST_ROWS:
                self._shrink(max(_FEWEST_ROWS, int(self.rows * share)))
                run = Run(self._model, self._parts, kind)
                run.trace(self._batch)
            return run
        except Exception as error:  # noqa: BLE001 - whatever a program's own layers raise
            what = "loss and gradients" if kind == FULL else "layers"
            self.reason = f"{what} cannot be computed: {_told(error)}"
            return None

    def _shrink(self, rows: int) -> None:
        self._batch = probe_batch.first_rows(self._batch, rows)
        self.rows = rows


def _told(error: Exception) -> str:
    """Return an exception as one short line of printable text."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    wrapped = len(lines) > 1 and lines[0].startswith("Exception encountered when calling")
    text = (lines[1] if wrapped else lines[0]) if lines else ""
    return f"{type(error).__name__}: {text}"[:300]
