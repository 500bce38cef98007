"""Gradients across the depth of a model: exploding, vanishing, and not there at all."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.symptom_growth import grown
from envcheck.localisation.symptoms import Symptom
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from envcheck.localisation.probe_history import History, Probe

__all__ = ["disconnected", "exploding", "vanishing"]

_TINY_MEAN = 1e-6
"""Mean magnitude of a vanished gradient (TheDeepChecker, TOSEM 2022)."""

_TINY_NORM, _RATIO = 1e-4, 1e-3
"""Norm of a vanished gradient, and its share of that of a layer nearer to the loss
(AutoTrainer, ICSE 2021)."""

_STILL_LEARNS = 1e-4
"""Relative update from which on an adaptive optimiser makes up for a tiny gradient
(TheDeepChecker: healthy updates are 1e-4 to 1e-1)."""

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
        others=tuple(slope.layer for slope in slopes if slope.layer != guilty),
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

    It is the one behind the sharpest drop if that makes up most of the loss, on a logarithmic
    scale; where the gradient fades from layer to layer it is the first layer.
    """
    slopes = [slope for slope in _slopes(history, probe) if slope.norm > 0]
    drops = [
        (math.log(later.norm / earlier.norm), later.layer)
        for earlier, later in itertools.pairwise(slopes)
        if earlier.layer != later.layer
    ]
    if not drops:
        return lost[0].layer
    sharpest, layer = max(drops)
    whole = sum(drop for drop, _ in drops if drop > 0)
    return layer if sharpest > 0.6 * whole else lost[0].layer


def _lasts(states: list[bool]) -> bool:
    return bool(states) and states[-1] and sum(states) >= _SUSTAINED * len(states)


def disconnected(history: History) -> Symptom | None:
    """Return the layers that are to be trained and to which no gradient comes at all.

    Silent for a model with more outputs than losses: what serves only the others is left out on
    purpose; and for layers whose gradient is not known.
    """
    outputs = history.model.get("outputs") or ()
    losses = [loss for loss in history.fit.get("losses") or () if loss.get("name")]
    told = [probe for probe in history.probes if _known(probe)]
    if not told or len(outputs) > len(losses):
        return None
    cut = _cut(told[0])
    for probe in told[1:]:
        cut = [layer for layer in cut if layer in _cut(probe)]
    if not cut:
        return None
    ordered = sorted(cut, key=history.place)
    place = next(
        k for k, weight in enumerate(told[0].weights) if weight.get("layer") == ordered[0]
    )
    return Symptom(
        kind="disconnected",
        layer=ordered[0],
        tensor=f"gradient of {told[0].weights[place].get('name')}",
        bad=told[0].moment,
        seen="no gradient",
        expected="a gradient of the loss with respect to every weight that is trained",
        others=tuple(ordered[1:]),
        sources=(told[0].source("weights", place, "gradient"),),
    )


def _known(probe: Probe) -> bool:
    return any(weight.get("gradient") == "ok" for weight in probe.weights)


def _cut(probe: Probe) -> list[str]:
    """Return the layers of which no trained weight has a gradient."""
    states: dict[str, list[Any]] = {}
    for weight in probe.weights:
        if weight.get("trainable", True):
            states.setdefault(str(weight.get("layer")), []).append(weight.get("gradient"))
    return [layer for layer, found in states.items() if set(found) == {"none"}]
