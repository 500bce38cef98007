"""Recover the values of single batches from the running means of an epoch.

The logs of a batch in Keras 3 are means over the epoch so far, weighted by the rows of each
batch: after batch k, m[k] = sum(w[i]·v[i]) / W[k] with W[k] = sum(w[i]). So the value of batch k
is v[k] = (m[k]·W[k] − m[k−1]·W[k−1]) / (W[k] − W[k−1]).

Reading W from the variables of a metric costs more than all else that is recorded of a step.
Where the rows of each batch are known it is taken from them, for metrics whose weight was seen
to be in proportion to the rows in the first batches of each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["BatchValues"]

_CLOSE = 1e-3
_COMPARED = 2
"""First batches of each epoch whose weights are compared with their rows."""


class BatchValues:
    """The values of single batches of one model, in the order of its steps.

    `rows` gives the rows of an epoch up to and with a batch, where that is known beforehand. A
    metric that is no mean (the area under a curve, say) has no value for a single batch and is
    left out. A `loss` that comes from no metric object is taken to be that of the batch itself.
    """

    def __init__(self, model: Any, rows: Callable[[int], int] | None = None) -> None:
        self._model = model
        self._rows_until = rows
        self._means: dict[str, _Mean] | None = None
        self._before: dict[str, tuple[float, float]] = {}

    def start_epoch(self) -> None:
        """Forget the running means; Keras resets its metrics before each epoch."""
        self._before = {}

    def remember(self, logs: Mapping[str, Any], batch: int) -> None:
        """Take the running means of a batch whose own values are not asked for."""
        rows = self._rows(batch)
        for name, mean in self._means_in(logs).items():
            self._before[name] = (float(logs[name]), mean.weight(batch, rows))

    def values(self, logs: Mapping[str, Any], batch: int) -> dict[str, float | None]:
        """Return the values of the batch that these logs follow, counted from 0 in its epoch."""
        found: dict[str, float | None] = {}
        rows = self._rows(batch)
        means = self._means_in(logs)
        for name, mean in means.items():
            now = (float(logs[name]), mean.weight(batch, rows))
            found[name] = _single(now, self._before.get(name, (0.0, 0.0)))
            self._before[name] = now
        if "loss" in logs and "loss" not in means:
            found["loss"] = float(logs["loss"])
        return found

    def counted_rows(self) -> int | None:
        """Return the rows of the epoch up to the batch looked at last, where Keras counts them."""
        loss = (self._means or {}).get("loss")
        if loss is None or "loss" not in self._before or loss.metric is not _tracker(self._model):
            return None
        return round(self._before["loss"][1])

    def _rows(self, batch: int) -> int | None:
        return None if self._rows_until is None else self._rows_until(batch)

    def _means_in(self, logs: Mapping[str, Any]) -> dict[str, _Mean]:
        if self._means is None:
            self._means = {
                name: _Mean(metric)
                for name, metric in _mean_metrics(self._model).items()
                if name in logs and _explains(metric, logs[name])
            }
        return self._means


class _Mean:
    """One metric that is a weighted mean, and its weight in an epoch so far."""

    def __init__(self, metric: Any) -> None:
        self.metric = metric
        self._per_row: float | None = None
        self._by_rows = True

    def weight(self, batch: int, rows: int | None) -> float:
        """Return the weight up to and with a batch, after which the epoch has had `rows` rows."""
        if rows is None or not self._by_rows:
            return float(self.metric.count)
        if batch >= _COMPARED and self._per_row is not None:
            return self._per_row * rows
        weight = float(self.metric.count)
        per_row = weight / rows
        if self._per_row is not None and not math.isclose(per_row, self._per_row, rel_tol=1e-6):
            self._by_rows = False
        self._per_row = per_row
        return weight


def _single(now: tuple[float, float], before: tuple[float, float]) -> float | None:
    mean, weight = now
    if not math.isfinite(mean) or before[1] == 0.0:
        return mean
    gained = weight - before[1]
    return (mean * weight - before[0] * before[1]) / gained if gained > 0.0 else None


def _tracker(model: Any) -> Any:
    return getattr(model, "_loss_tracker", None)


def _explains(metric: Any, logged: Any) -> bool:
    """Return whether a logged value is the running mean of this metric."""
    count = float(metric.count)
    if count <= 0.0:
        return False
    mean, value = float(metric.total) / count, float(logged)
    if not (math.isfinite(mean) and math.isfinite(value)):
        return math.isfinite(mean) == math.isfinite(value)
    return abs(mean - value) <= _CLOSE * max(abs(mean), abs(value), 1e-12)


def _mean_metrics(model: Any) -> dict[str, Any]:
    """Return the metrics that are weighted means, by the name under which Keras logs them."""
    found: dict[str, Any] = {}
    for metric in model.metrics:
        if not hasattr(metric, "_flat_metrics"):
            found.setdefault(metric.name, metric)
    compiled = getattr(model, "_compile_metrics", None)
    if compiled is not None and compiled.built:
        found |= _compiled(compiled)
    return {name: metric for name, metric in found.items() if _is_mean(metric)}


def _compiled(compiled: Any) -> dict[str, Any]:
    """Return compiled metrics by their logged names; those of equal names are left out."""
    found: dict[str, Any] = {}
    twice = set()
    for group in (*compiled._flat_metrics, *compiled._flat_weighted_metrics):
        for metric in group.metrics if group else ():
            prefix = f"{group.output_name}_" if group.output_name else ""
            name = prefix + metric.name
            if name in found:
                twice.add(name)
            found[name] = metric
    return {name: metric for name, metric in found.items() if name not in twice}


def _is_mean(metric: Any) -> bool:
    import keras

    return isinstance(metric, keras.metrics.Mean) and hasattr(metric, "count")
