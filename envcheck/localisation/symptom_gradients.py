"""Gradients across the depth of a model: exploding and vanishing."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.localisation.symptom_growth import grown
from envcheck.localisation.symptoms import Symptom
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from envcheck.localisation.probe_history import History, Probe

__all__ = ["exploding", "vanishing"]

_TINY_MEAN = 1e-6
"""Mean magnitude of a vanished gradient (TheDeepChecker, TOSEM 2022)."""

_TINY_NORM, _RATIO = 1e-4, 1e-3
"""Norm of a vanished gradient, and its share of that of a layer nearer to the loss
(AutoTrainer, ICSE 2021)."""

_STILL_LEARNS = 1e-4
"""Relative update from which on an adaptive optimiser makes up for a tiny gradient
(TheDeepChecker: healthy updates are 1e-4 to 1e-1)."""

_SMALL_SHARE = 0.95
"""Share of weights below 1e-5 from which on a layer passes nothing on (TheDeepChecker)."""

_SUSTAINED = 2 / 3
"""Share of the probes from the first bad one on that have to be bad too."""


def exploding(history: History) -> Symptom | None:
    """Return growth of weights, values or gradients that lasted to the end of the fit.

    Silent while behind a batch normalisation whose averages have not settled, for growth that
    was undone, and for size alone as long as the inputs explain it.
    """
    if not history.probes or grown(history, history.probes[-1]) is None:
        return None
    good: Probe | None = None
    for probe in history.probes:
        growth = grown(history, probe)
        if growth is not None:
            return Symptom(kind="exploding", layer=growth.layer, tensor=growth.tensor,
                           bad=probe.moment, good=good.moment if good else None,
                           seen=growth.seen, expected=growth.expected, sources=growth.sources,
                           series=growth.series)  # fmt: skip
        good = probe
    return None


@dataclass(frozen=True)
class _Slope:
    """The gradient of a kernel in one probe."""

    layer: str
    name: str
    mean: float
    norm: float
    place: int


def vanishing(history: History) -> Symptom | None:
    """Return a gradient that is lost on its way from the loss to the first layers.

    A gradient vanishes if it is tiny by itself and beside that of a layer nearer to the loss, in
    most probes and at the end. A gradient of exactly 0 has another cause. Silent where the
    optimiser moves the weights all the same.
    """
    lost = [(probe, _lost(history, probe)) for probe in history.probes]
    lost = [(probe, slopes) for probe, slopes in lost if slopes is not None]
    first = next((index for index, (_, slopes) in enumerate(lost) if slopes), None)
    if first is None or not _lasts([bool(slopes) for _, slopes in lost[first:]]):
        return None
    probe, _ = lost[first]
    last, slopes = lost[-1]
    slopes = slopes or []
    guilty = _narrowest(history, last, slopes)
    strongest = max((slope.norm for slope in _slopes(history, last)), default=0.0)
    weakest = min(slopes, key=lambda slope: slope.norm)
    return Symptom(
        kind="vanishing",
        layer=guilty,
        tensor=f"gradient of {weakest.name} of {weakest.layer}",
        bad=probe.moment,
        good=lost[first - 1][0].moment if first else None,
        seen=f"{weakest.norm:.3g}, {weakest.norm / strongest:.3g} of the strongest",
        expected=f"more than {_RATIO:g} of the strongest, or above {_TINY_NORM:g}",
        others=tuple(dict.fromkeys(s.layer for s in slopes if s.layer != guilty)),
        sources=(last.source("weights", weakest.place, "gradient_norm"),),
        series=history.series(
            f"{weakest.layer} gradient",
            lambda p: p.weights[weakest.place].get("gradient_norm")
            if weakest.place < len(p.weights) else None,
        ),
    )  # fmt: skip


def _slopes(history: History, probe: Probe) -> list[_Slope]:
    """Return the gradients of kernels in forward order."""
    found = []
    for place, weight in enumerate(probe.weights):
        name = str(weight.get("name"))
        mean, norm = number(weight.get("gradient_mean_abs")), number(weight.get("gradient_norm"))
        if "kernel" not in name or mean is None or norm is None:
            continue
        found.append(_Slope(str(weight.get("layer")), name, mean, norm, place))
    return sorted(found, key=lambda slope: history.place(slope.layer))


def _lost(history: History, probe: Probe) -> list[_Slope] | None:
    """Return the vanished gradients of a probe; None where gradients are not known."""
    slopes = _slopes(history, probe)
    if len(slopes) < 2:
        return None
    found = []
    strongest = 0.0
    for slope in reversed(slopes):
        tiny = 0.0 < slope.norm < _TINY_NORM and slope.mean < _TINY_MEAN
        update = number(probe.weights[slope.place].get("update_ratio"))
        learns = update is not None and update >= _STILL_LEARNS
        settled = history.is_settled(slope.layer, probe)
        if tiny and slope.norm < _RATIO * strongest and not learns and settled:
            found.append(slope)
        strongest = max(strongest, slope.norm)
    return found[::-1]


def _narrowest(history: History, probe: Probe, lost: list[_Slope]) -> str:
    """Return the layer that the gradient is lost in.

    It is the first layer whose weights, biases apart, are all next to 0; else the one behind the
    sharpest drop, if that makes up most of the loss on a logarithmic scale. Where the gradient
    fades from layer to layer it is the first layer.
    """
    norms: dict[str, float] = {}
    for slope in _slopes(history, probe):
        norms[slope.layer] = max(norms.get(slope.layer, 0.0), slope.norm)
    empty = sorted(_without_weights(probe), key=history.place)
    if empty:
        return empty[0]
    first = lost[0].layer
    behind = [layer for layer in norms if history.place(layer) >= history.place(first)]
    drops = [
        (math.log(norms[later] / norms[earlier]), later)
        for earlier, later in itertools.pairwise(behind)
        if norms[earlier] > 0 and norms[later] > 0
    ]
    sharpest, layer = max(drops, default=(0.0, first))
    return layer if sharpest > 0.6 * sum(max(drop, 0.0) for drop, _ in drops) else first


def _without_weights(probe: Probe) -> set[str]:
    """Return the layers of which nearly all weights are next to 0, biases apart."""
    small: dict[str, bool] = {}
    for weight in probe.weights:
        name = str(weight.get("name")).rpartition("/")[2]
        if weight.get("trainable", True) and name not in ("bias", "beta"):
            layer = str(weight.get("layer"))
            tiny = (number(weight.get("small_share")) or 0.0) > _SMALL_SHARE
            small[layer] = small.get(layer, True) and tiny
    return {layer for layer, tiny in small.items() if tiny}


def _lasts(states: list[bool]) -> bool:
    return bool(states) and states[-1] and sum(states) >= _SUSTAINED * len(states)
