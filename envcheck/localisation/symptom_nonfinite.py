"""NaN and infinities: the first batch and the first layer, and what they were born of.

A value that is not finite counts once it reaches something that matters: a weight, the loss, an
output or a gradient. An infinity inside the model that a softmax or a mask takes away again is
by design; a gradient that overflows under loss scaling is skipped, also by design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.probe_history import History, Moment, Probe, is_broken, share
from envcheck.localisation.symptom_growth import grown
from envcheck.localisation.symptoms import Symptom
from envcheck.localisation.training_log import number, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["nonfinite"]

_FINITE = "finite numbers"

_RISE = 100.0
"""Rise of the loss of single batches that counts as growth when NaN followed."""


def nonfinite(history: History) -> Symptom | None:
    """Return the first NaN or infinity of a fit, or None."""
    good: Probe | None = None
    for probe in history.probes:
        if _broken_weights(history, probe):
            return _weights(history, probe, good)
        if _reaches(history, probe):
            return _passing(history, probe, good)
        good = probe
    return _unseen(history)


def _reaches(history: History, probe: Probe) -> bool:
    """Return whether something that matters is not finite in a probe."""
    ends = [value for output in probe.outputs for value in output.get("range") or ()]
    if is_broken(probe.data.get("loss")) or any(map(is_broken, ends)):
        return True
    if str(history.fit.get("mixed_precision")).startswith("mixed_float16"):
        return False
    return bool(_broken_gradients(history, probe))


def _broken_weights(history: History, probe: Probe) -> list[int]:
    """Return the places of the weights that are not finite, in forward order."""
    found = [k for k, w in enumerate(probe.weights) if share(w.get("nonfinite_share")) > 0]
    return sorted(found, key=lambda k: (history.place(str(probe.weights[k].get("layer"))), k))


def _broken_gradients(history: History, probe: Probe) -> list[int]:
    found = [k for k, w in enumerate(probe.weights) if share(w.get("gradient_nonfinite_share")) > 0]
    return sorted(found, key=lambda k: (history.place(str(probe.weights[k].get("layer"))), k))


def _weights(history: History, probe: Probe, good: Probe | None) -> Symptom:
    """Return which weight broke first.

    When all that is trained is broken a step has spread it everywhere, and what was seen before
    has to tell. When the layers up to one are broken and those behind it are not, a gradient that
    was born behind that one came down to the inputs.
    """
    broken = _broken_weights(history, probe)
    trained = [k for k, weight in enumerate(probe.weights) if weight.get("trainable", True)]
    spread = len(trained) > 1 and set(trained) <= set(broken) and good is not None
    if spread and len({probe.weights[k].get("layer") for k in trained}) > 1:
        return _spread(history, probe, good)
    layers = list(dict.fromkeys(str(probe.weights[k].get("layer")) for k in broken))
    names = list(dict.fromkeys(str(probe.weights[k].get("layer")) for k in trained))
    ahead = sorted(names, key=history.place)[: len(layers)]
    born_behind = len(layers) > 1 and layers == ahead and good is not None
    layer = layers[-1] if born_behind else layers[0]
    place = next(k for k in broken if str(probe.weights[k].get("layer")) == layer)
    weight = probe.weights[place]
    return Symptom(
        kind="nonfinite-gradient" if born_behind else "nonfinite-weights",
        layer=layer,
        tensor=f"gradient of {weight.get('name')}" if born_behind else str(weight.get("name")),
        bad=probe.moment,
        good=good.moment if good else None,
        seen=_told(weight),
        expected=_FINITE,
        others=tuple(other for other in layers if other != layer),
        sources=(probe.source("weights", place, "nonfinite_share"),),
    )


def _spread(history: History, probe: Probe, good: Probe | None) -> Symptom:
    """Return the symptom of a step that made everything NaN: of growth, of data, or unknown."""
    last = good.moment if good else None
    grew = grown(history, good, followed=True) if good is not None else None
    common: dict[str, Any] = {"bad": _narrowed(history, probe.moment, last), "good": last}
    if grew is not None:
        return Symptom(kind="overflow", layer=grew.layer, tensor=grew.tensor, seen=grew.seen,
                       expected=grew.expected, sources=grew.sources, series=grew.series,
                       **common)  # fmt: skip
    kind, sources = _in_data(history.fit)
    rise = None if kind else _rise(history.fit)
    if rise is not None:
        return Symptom(kind="overflow", tensor="loss", seen=f"a loss {rise:.3g} times the first",
                       expected=f"less than {_RISE:.0f} times the first",
                       sources=("curves/batch/loss",), **common)  # fmt: skip
    return Symptom(
        kind=kind or "nonfinite-step",
        seen="NaN in the weights of every layer",
        expected=_FINITE,
        sources=(*sources, f"probes/{probe.index}/weights"),
        **common,
    )


def _passing(history: History, probe: Probe, good: Probe | None) -> Symptom:
    """Return the first value that is not finite while all weights are."""
    common: dict[str, Any] = {"bad": probe.moment, "good": good.moment if good else None}
    for kind, key in (
        ("nonfinite-input", "input_nonfinite_share"),
        ("nonfinite-target", "target_nonfinite_share"),
    ):
        if share(probe.data.get(key)) > 0:
            layer = (
                str(probe.calls[0].get("path")) if kind == "nonfinite-input" and probe.calls else ""
            )
            seen = f"NaN or infinity in {share(probe.data.get(key)):.1%} of the values"
            return Symptom(kind=kind, layer=layer, seen=seen, expected=_FINITE,
                           sources=(f"probes/{probe.index}/{key}",), **common)  # fmt: skip
    for place, call in enumerate(probe.calls):
        if share(call.get("nonfinite_share")) > 0:
            return _values(history, probe, place, good)
    if is_broken(probe.data.get("loss")):
        return Symptom(kind="nonfinite-loss", seen=f"loss {probe.data.get('loss')}",
                       expected="a finite loss, as the outputs are finite",
                       sources=(f"probes/{probe.index}/loss",), **common)  # fmt: skip
    return _gradient(history, probe, common)


def _values(history: History, probe: Probe, place: int, good: Probe | None) -> Symptom:
    call = probe.calls[place]
    grew = grown(history, good, followed=True) if good is not None else None
    grew_here = grew is not None and history.place(grew.layer) <= history.place(str(call["path"]))
    later = probe.calls[place + 1 :]
    others = (str(c["path"]) for c in later if share(c.get("nonfinite_share")) > 0)
    return Symptom(
        kind="overflow" if grew_here else "nonfinite-values",
        layer=str(call.get("path")),
        tensor="values",
        bad=probe.moment,
        good=good.moment if good else None,
        seen=_told(call),
        expected=_FINITE,
        others=tuple(dict.fromkeys(others)),
        sources=(probe.source("layers", place, "nonfinite_share"),),
        series=grew.series if grew_here and grew is not None else (),
    )


def _gradient(history: History, probe: Probe, common: Mapping[str, Any]) -> Symptom:
    """Return a gradient that is not finite: the layer nearest to the loss is where it was born."""
    broken = _broken_gradients(history, probe)
    if not broken:
        return Symptom(kind="nonfinite-values", seen="an output that is not finite",
                       expected=_FINITE, sources=(f"probes/{probe.index}/outputs",),
                       **common)  # fmt: skip
    place = broken[-1]
    weight = probe.weights[place]
    return Symptom(
        kind="nonfinite-gradient",
        layer=str(weight.get("layer")),
        tensor=f"gradient of {weight.get('name')}",
        seen=f"NaN or infinity in {share(weight.get('gradient_nonfinite_share')):.1%} of it",
        expected=_FINITE,
        sources=(probe.source("weights", place, "gradient_nonfinite_share"),),
        **common,
    )


def _unseen(history: History) -> Symptom | None:
    """Return the symptom of a batch whose loss was not finite though no probe saw anything."""
    first = (history.fit.get("curves") or {}).get("first_nonfinite_loss")
    if not first or str(history.fit.get("mixed_precision")).startswith("mixed_float16"):
        return None
    step, epoch, batch = (int(first.get(key) or 0) for key in ("step", "epoch", "batch"))
    before = [probe.moment for probe in history.probes if probe.moment.step <= step]
    kind, sources = _in_data(history.fit)
    return Symptom(
        kind=kind or "nonfinite-step",
        bad=Moment(step + 1, epoch, batch + 1),
        good=before[-1] if before else None,
        seen="a loss that is not finite",
        expected="a finite loss",
        sources=(*sources, "curves/first_nonfinite_loss"),
    )


def _narrowed(history: History, bad: Moment, good: Moment | None) -> Moment:
    """Return the end of the first batch whose loss was not finite, if that lies in between."""
    first = (history.fit.get("curves") or {}).get("first_nonfinite_loss") or {}
    step = first.get("step")
    if step is None or step + 1 >= bad.step or (good is not None and step < good.step):
        return bad
    return Moment(int(step) + 1, int(first.get("epoch") or 0), int(first.get("batch") or 0) + 1)


def _in_data(fit: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the kind of a symptom that NaN or infinities in the data account for."""
    data = fit.get("data") or {}
    for kind, key in (("nonfinite-input", "inputs"), ("nonfinite-target", "targets")):
        for place, array in enumerate(data.get(key) or ()):
            for field in ("nan_share", "inf_share"):
                if (number(array.get(field)) or 0.0) > 0:
                    return kind, (f"data/{key}/{place}/{field}",)
    return "", ()


def _rise(fit: Mapping[str, Any]) -> float | None:
    """Return by how much the loss of single batches rose before it broke, if that is a lot."""
    recorded = ((fit.get("curves") or {}).get("batch") or {}).get("loss") or ()
    finite = numbers(recorded)
    if not finite or not finite[0] > 0 or max(finite) < _RISE * finite[0]:
        return None
    return max(finite) / finite[0]


def _told(entry: Mapping[str, Any]) -> str:
    """Return how much of a tensor is not finite, and whether it is NaN or infinite."""
    whole, nan = share(entry.get("nonfinite_share")), entry.get("nan_share")
    word = "NaN or infinity"
    if nan is not None:
        word = "infinity" if share(nan) == 0 else "NaN" if share(nan) >= whole else word
    return f"{word} in {whole:.1%} of its values"
