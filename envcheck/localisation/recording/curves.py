"""Curves of one fit: the values of single batches, and those of whole epochs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["BatchCurve", "EpochCurve", "as_number"]

MOST_POINTS = 4096
"""Points of a batch curve; beyond this every other one goes, and the stride doubles."""


def as_number(value: Any) -> float | None:
    """Return a logged value as a float, or None for what is no single number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


class BatchCurve:
    """Loss and metrics of single batches, by optimiser step.

    At most 4096 points are kept, evenly spaced: `stride` steps lie between two of them.
    """

    def __init__(self) -> None:
        self.stride = 1
        self.first_nonfinite: dict[str, int] | None = None
        self._steps: list[int] = []
        self._epochs: list[int] = []
        self._losses: list[float | None] = []
        self._metrics: dict[str, list[float | None]] = {}

    def wants(self, step: int) -> bool:
        """Return whether the point of a step is to be kept."""
        return step % self.stride == 0

    def note_loss(self, step: int, epoch: int, batch: int, loss: float) -> bool:
        """Note where the loss first is not finite; return whether it just happened."""
        if math.isfinite(loss) or self.first_nonfinite is not None:
            return False
        self.first_nonfinite = {"step": step, "epoch": epoch, "batch": batch}
        return True

    def add(
        self, step: int, epoch: int, loss: float | None, metrics: Mapping[str, float | None]
    ) -> None:
        """Add the point of one step."""
        for name in metrics:
            self._metrics.setdefault(name, [None] * len(self._steps))
        self._steps.append(step)
        self._epochs.append(epoch)
        self._losses.append(loss)
        for name, values in self._metrics.items():
            values.append(metrics.get(name))
        if len(self._steps) > MOST_POINTS:
            self._thin()

    def _thin(self) -> None:
        self.stride *= 2
        kept = [index for index, step in enumerate(self._steps) if step % self.stride == 0]
        for values in (self._steps, self._epochs, self._losses, *self._metrics.values()):
            values[:] = [values[index] for index in kept]  # type: ignore[index]

    def document(self) -> dict[str, Any]:
        """Return the curve as the log holds it."""
        return {
            "step": list(self._steps),
            "epoch": list(self._epochs),
            "loss": list(self._losses),
            "metrics": {name: list(values) for name, values in self._metrics.items()},
        }


class EpochCurve:
    """What Keras logs at the end of each epoch."""

    def __init__(self) -> None:
        self._epochs: list[int] = []
        self._values: dict[str, list[float | None]] = {}

    def add(self, epoch: int, logs: Mapping[str, Any]) -> None:
        """Add the logs of one epoch; a value that an epoch lacks is None."""
        for name in logs:
            self._values.setdefault(str(name), [None] * len(self._epochs))
        self._epochs.append(epoch)
        for name, values in self._values.items():
            values.append(as_number(logs.get(name)))

    def document(self) -> dict[str, Any]:
        """Return the curve as the log holds it; `loss` and `val_loss` are always there."""
        missing = [None] * len(self._epochs)
        curve: dict[str, Any] = {"epoch": list(self._epochs), "loss": missing, "val_loss": missing}
        return curve | {name: list(values) for name, values in self._values.items()}
