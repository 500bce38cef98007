"""Weights that do not move although they are to be trained, and a loss that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.symptoms import Symptom
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from envcheck.localisation.probe_history import History, Probe

__all__ = ["frozen", "still", "unchanged"]

_LEAST = 2
"""Measured steps without any change that count."""

_STILL_PROBES, _STILL_STEPS = 4, 8
_SAME = 1e-6
"""Relative change of the loss of the fixed probe batch that counts as none."""

_FITTED = 1e-7
"""Loss below which there is nothing left to learn."""


def frozen(history: History) -> Symptom | None:
    """Return the layers whose trained weights are exactly the same after a step, to the end.

    A layer counts as a whole, as single weights without effect are ordinary (a bias before a
    batch normalisation, the key bias of attention). Layers that the program has set to be not
    trained are left out, as are those of a model with a training step of its own and those
    without a gradient path, which is another symptom. Silent when no layer moves.
    """
    if history.fit.get("custom_train_step"):
        return None
    measured = [probe for probe in history.probes if _moves(probe)]
    if len(measured) < _LEAST or not any(value for value in _moves(measured[-1]).values()):
        return None
    onsets = {}
    for layer, moves in _moves(measured[-1]).items():
        if not moves:
            onset = _onset([_moves(probe).get(layer) for probe in measured])
            if len(measured) - onset >= _LEAST and not _is_cut(measured[-1], layer):
                onsets[layer] = onset
    if not onsets:
        return None
    layers = sorted(onsets, key=lambda layer: (onsets[layer], history.place(layer)))
    probe, onset = measured[onsets[layers[0]]], onsets[layers[0]]
    place = next(k for k, w in enumerate(probe.weights) if w.get("layer") == layers[0])
    return Symptom(
        kind="frozen",
        layer=layers[0],
        tensor=str(probe.weights[place].get("name")),
        bad=probe.moment,
        good=measured[onset - 1].moment if onset else None,
        seen=f"no weight changed in any of the {len(measured) - onset} steps looked at",
        expected="weights that change, as those of other layers do",
        others=tuple(layers[1:]),
        sources=(probe.source("weights", place, "update_ratio"),),
    )


def unchanged(history: History) -> Symptom | None:
    """Return that no weight of the model changes at all, in any step looked at.

    Silent when the learning rate changes, as it does in a warm-up that begins with 0.
    """
    measured = [probe for probe in history.probes if _moves(probe)]
    if len(measured) < _LEAST or any(any(_moves(probe).values()) for probe in measured):
        return None
    if (history.fit.get("optimiser") or {}).get("schedule"):
        return None
    if any((number(probe.data.get("loss")) or 0.0) < _FITTED for probe in measured):
        return None
    return Symptom(
        kind="unchanged",
        bad=measured[0].moment,
        seen=f"no weight changed in any of the {len(measured)} steps looked at",
        expected="weights that change with every step",
        sources=tuple(f"probes/{probe.index}/weights" for probe in measured[:3]),
    )


def still(history: History) -> Symptom | None:
    """Return that the loss of the fixed probe batch is the same at every probe.

    The probe batch does not change, so only the weights can change its loss. Silent at a loss of
    0, and when the learning rate begins with 0.
    """
    known = [p for p in history.probes if number(p.data.get("loss")) is not None]
    losses = [number(probe.data.get("loss")) or 0.0 for probe in known]
    if len(known) < _STILL_PROBES or known[-1].moment.step < _STILL_STEPS:
        return None
    low, high = min(losses), max(losses)
    if high - low > _SAME * abs(high) or abs(high) < _FITTED:
        return None
    return Symptom(
        kind="still",
        bad=known[0].moment,
        seen=f"a loss of {high:.6g} at all {len(known)} probes",
        expected="a loss that changes",
        sources=(f"probes/{known[0].index}/loss", f"probes/{known[-1].index}/loss"),
        series=history.series("loss of the probe batch", lambda probe: probe.data.get("loss")),
    )


def _moves(probe: Probe) -> dict[str, bool]:
    """Return for each layer with measured updates whether any of its trained weights moved."""
    found: dict[str, bool] = {}
    unknown = set()
    for weight in probe.weights:
        if not weight.get("trainable", True):
            continue
        layer, ratio = str(weight.get("layer")), weight.get("update_ratio")
        if ratio is None:
            unknown.add(layer)
        else:
            found[layer] = found.get(layer, False) or ratio != 0
    return {layer: moved for layer, moved in found.items() if moved or layer not in unknown}


def _onset(states: list[Any]) -> int:
    """Return the index from which on a layer does not move."""
    onset = len(states)
    while onset and states[onset - 1] is False:
        onset -= 1
    return onset


def _is_cut(probe: Probe, layer: str) -> bool:
    states = {w.get("gradient") for w in probe.weights if w.get("layer") == layer}
    return states == {"none"}
