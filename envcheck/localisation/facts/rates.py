"""Facts about how far the weights moved: update ratios of the probes, and what bounds them.

The update ratio of a variable is mean |Δw| / mean |w| of one optimiser step. Between 10⁻⁴ and
10⁻¹ training moves (TheDeepChecker, Ben Braiek and Khomh 2022, section 4.3).
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.questions import ask
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_rates", "ratios_by_layer"]

_KERNELS = frozenset(("kernel", "embeddings", "recurrent_kernel", "pointwise_kernel",
                      "depthwise_kernel"))  # fmt: skip
_SLOW, _FAST = -4.0, -1.0
_LEAST = 2
"""Steps that have to be measured before they say anything about a layer."""


def ratios_by_layer(fit: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the measured update ratios of the weight matrices by layer, zero included."""
    found: dict[str, list[float]] = {}
    for probe in fit.get("probes") or ():
        for weight in probe.get("weights") or ():
            ratio = number(weight.get("update_ratio"))
            known = str(weight.get("name")).rpartition("/")[2] in _KERNELS
            if ratio is not None and known and number(weight.get("mean_abs")):
                found.setdefault(str(weight.get("layer")), []).append(ratio)
    return found


def add_rates(graph: TrainingGraph, subject: str, fit: Mapping[str, Any], place: str) -> None:
    """Assert shares of slow and fast layers, and the furthest any weight matrix can have gone."""
    layers = {path: items for path, items in ratios_by_layer(fit).items() if len(items) >= _LEAST}
    if not layers:
        why = "how far single steps moved the weights was not measured"
        ask(graph, subject, "updates", why, f"{place}/probes")
        return
    source = f"{place}/probes"
    medians = {path: _log(statistics.median(items)) for path, items in layers.items()}
    slow = sum(value < _SLOW for value in medians.values()) / len(medians)
    fast = sum(value > _FAST for value in medians.values()) / len(medians)
    graph.put_value(subject, "slowShare", round(slow, 6), source)
    graph.put_value(subject, "fastShare", round(fast, 6), source)
    middle = statistics.median(medians.values())
    graph.put_value(subject, "updateRatio", float(f"{10**middle:.3g}"), source)
    steps = number(fit.get("steps"))
    largest = max(max(items) for items in layers.values())
    if steps is not None and _has_gradients(fit):
        graph.put_value(subject, "travel", float(f"{steps * largest:.3g}"), source)


def _log(ratio: float) -> float:
    return math.log10(ratio) if ratio > 0 else -math.inf if ratio == 0 else math.nan


def _has_gradients(fit: Mapping[str, Any]) -> bool:
    """Tell whether any weight matrix had a gradient to follow, in most probes."""
    probes = fit.get("probes") or ()
    alive = [
        any((number(weight.get("gradient_mean_abs")) or 0.0) > 0 for weight in probe["weights"])
        for probe in probes
        if probe.get("weights")
    ]
    return bool(alive) and sum(alive) > len(alive) / 2
