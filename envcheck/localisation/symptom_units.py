"""Units that have stopped working: dead, saturated, or constant whatever the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.symptoms import Symptom
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from envcheck.localisation.probe_history import History, Probe

__all__ = ["constant", "dead", "saturated"]

_DEAD, _DYING = 0.9, 0.5
"""Share of dead units of a layer that stops it, and that hampers it (TheDeepChecker flags more
than half); fewer are the sparsity that rectifiers are used for."""

_SATURATED = 0.85
"""Share of values within 2 % of the bounds of their activation (TheDeepChecker: more than 0.85)."""

_SUSTAINED = 2 / 3
_LEAST_STEPS = 4
"""Steps that a fit must have done: units that are off at first often recover."""


def dead(history: History) -> Symptom | None:
    """Return the first layer whose units are dead, from some probe on to the end.

    A unit is dead if it is 0 for every row of the probe batch, at every position. Hidden layers
    count, as the range of outputs has rules of its own.
    """
    whole = _first(history, "dead_share", _DEAD)
    part = None if whole is not None else _first(history, "dead_share", _DYING)
    found = whole or part
    if found is None:
        return None
    return _symptom(history, found, "dead" if whole else "dying", "dead_share",
                    _DEAD if whole else _DYING, "of its units are 0 for every row")  # fmt: skip


def saturated(history: History) -> Symptom | None:
    """Return the first hidden layer that sits at the bounds of its activation, to the end."""
    found = _first(history, "saturated_share", _SATURATED)
    if found is None:
        return None
    words = "of its values lie at the bounds of its activation"
    return _symptom(history, found, "saturated", "saturated_share", _SATURATED, words)


def constant(history: History) -> Symptom | None:
    """Return an output that is the same for every row, from some probe on to the end.

    The layer named is the first of those at the end of the forward order that are constant.
    Constant layers further in, such as positional embeddings, are by design.
    """
    flat = [(p, _flat_outputs(p)) for p in history.probes if p.outputs]
    if not flat or not flat[-1][1] or flat[-1][0].moment.step < _LEAST_STEPS:
        return None
    first = len(flat)
    while first and flat[first - 1][1]:
        first -= 1
    probe, places = flat[first]
    if probe.moment.step == flat[-1][0].moment.step:
        return None
    run = _constant_run(probe)
    low, high = (probe.outputs[places[0]].get("range") or [None, None])[:2]
    return Symptom(
        kind="constant",
        layer=run[0] if run else "",
        tensor="values",
        bad=probe.moment,
        good=flat[first - 1][0].moment if first else None,
        seen=f"the same output for every row (between {_short(low)} and {_short(high)})",
        expected="outputs that depend on the input",
        others=tuple(run[1:]),
        sources=(probe.source("outputs", places[0], "constant"),),
    )


def _flat_outputs(probe: Probe) -> list[int]:
    """Return the places of the constant outputs if all outputs are constant."""
    places = [k for k, output in enumerate(probe.outputs) if output.get("constant") is True]
    return places if len(places) == len(probe.outputs) else []


def _constant_run(probe: Probe) -> list[str]:
    """Return the layers at the end of the forward order of which every unit is constant."""
    run: list[str] = []
    for call in reversed(probe.calls):
        if number(call.get("constant_share")) != 1.0:
            break
        run.insert(0, str(call.get("path")))
    return list(dict.fromkeys(run))


_Found = tuple["Probe", "Probe | None", int, list[str]]
"""The first bad probe, the last good one, the place of the call, all bad layers."""


def _first(history: History, key: str, least: float) -> _Found | None:
    """Return where a share of a hidden layer first reaches `least` and keeps to it.

    Of several layers the one that did so first counts, in forward order.
    """
    probes = [probe for probe in history.probes if probe.calls]
    if not probes or probes[-1].moment.step < _LEAST_STEPS:
        return None
    best: tuple[int, int, int] | None = None
    bad_layers = []
    for place, call in enumerate(probes[-1].calls):
        path = str(call.get("path"))
        if history.is_output(path):
            continue
        onset = _onset(history, probes, place, path, key, least)
        if onset is not None:
            bad_layers.append(path)
            candidate = (onset, history.place(path), place)
            best = candidate if best is None else min(best, candidate)
    if best is None:
        return None
    onset, _, place = best
    return probes[onset], probes[onset - 1] if onset else None, place, bad_layers


def _onset(
    history: History, probes: list[Probe], place: int, path: str, key: str, least: float
) -> int | None:
    """Return the index of the first probe of a run of bad ones that lasts to the end."""
    states = [_value(probe, place, path, key) for probe in probes]
    usable = [history.is_settled(path, probe) for probe in probes]
    bad = [
        fine and value is not None and value >= least
        for fine, value in zip(usable, states, strict=True)
    ]
    if not bad[-1]:
        return None
    first = bad.index(True)
    rest = bad[first:]
    return first if sum(rest) >= _SUSTAINED * len(rest) else None


def _value(probe: Probe, place: int, path: str, key: str) -> float | None:
    if place >= len(probe.calls) or probe.calls[place].get("path") != path:
        return None
    return number(probe.calls[place].get(key))


def _symptom(
    history: History, found: _Found, kind: str, key: str, least: float, words: str
) -> Symptom:
    probe, good, place, layers = found
    call = probe.calls[place]
    path = str(call.get("path"))
    last = number(history.probes[-1].calls[place].get(key)) or 0.0
    return Symptom(
        kind=kind,
        layer=path,
        tensor="values",
        bad=probe.moment,
        good=good.moment if good else None,
        seen=f"{last:.0%} {words}",
        expected=f"less than {least:.0%}",
        others=tuple(layer for layer in dict.fromkeys(layers) if layer != path),
        sources=(
            probe.source("layers", place, key),
            history.probes[-1].source("layers", place, key),
        ),
        series=history.series(f"{path} {key}", lambda p: _value(p, place, path, key)),
    )


def _short(value: Any) -> str:
    numeric = number(value)
    return "?" if numeric is None else f"{numeric:.4g}"
