"""What a plot beside a finding shows: its own series, or else the loss of the fit it is about."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from envcheck.localisation.training_log import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.localisation.graph import Place, TrainingGraph

__all__ = ["series_of"]

_MOST_POINTS = 50


def series_of(graph: TrainingGraph, place: Place) -> tuple[dict[str, Any], ...]:
    """Return lines as `{"label": text, "points": [[step, value], …]}`, at most 50 points each."""
    if place.series:
        return tuple(_drawable(line) for line in place.series)
    fit = graph.log.fit(place.fit)
    return () if fit is None else _losses(fit)


def _drawable(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line without the points that no axis holds: a report is strict JSON."""
    return {**line, "points": [pair for pair in line["points"] if all(map(_is_finite, pair))]}


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _losses(fit: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return the batch losses of a fit, as medians of neighbours, and its validation losses."""
    curves = fit.get("curves") or {}
    batch, epochs = curves.get("batch") or {}, curves.get("epoch") or {}
    losses = batch.get("loss") or ()
    points = [[s, y] for s, y in zip(batch.get("step") or (), losses, strict=False)]
    lines = [("training loss", _thinned(points))]
    validation = epochs.get("val_loss") or ()
    each = (fit.get("steps") or 0) / len(validation) if validation else 0
    lines.append(("validation loss", _thinned([[round(each * (n + 1)), y]
                                               for n, y in enumerate(validation)])))  # fmt: skip
    return tuple({"label": label, "points": shown} for label, shown in lines if len(shown) > 1)


def _thinned(points: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Return at most 50 points: the median of each group of neighbours, at its last step."""
    known = [pair for pair in points if all(map(_is_finite, pair))]
    size = math.ceil(len(known) / _MOST_POINTS) or 1
    groups = [known[start : start + size] for start in range(0, len(known), size)]
    return [
        [group[-1][0], round(statistics.median(numbers([y for _, y in group])), 6)]
        for group in groups
    ]
