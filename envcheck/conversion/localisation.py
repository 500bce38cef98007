"""Name the calls at fault: the frontier of what disagrees, confirmed by healing it.

Bisection would need a run for each halving, assume a single fault, and take an error that a
layer inherited for one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import GOOD
from envcheck.conversion.arrays import relative_error
from envcheck.conversion.causes import Cause
from envcheck.conversion.crashes import failing_layer, revive
from envcheck.conversion.explaining import causes_of
from envcheck.conversion.healing import Place, Trial, places, resembling, try_place
from envcheck.conversion.joint_healing import joint_trial

if TYPE_CHECKING:
    from envcheck.conversion.calls import Call, Port
    from envcheck.conversion.tracing import Comparison

__all__ = ["Culprit", "localise_faults"]

MOST_FAULTS = 8
_MOST_SUCCESSORS = 3


@dataclass(frozen=True, kw_only=True)
class Culprit:
    """A fault: the calls that share it, the tensor at its end, and how large it is by itself.

    `confirmed` says that replacing the tensor's value healed what follows, `crashes` that the
    candidate does not run because of it.
    """

    calls: tuple[int, ...]
    port: Port
    tensor: str
    local_error: float
    absent: bool
    confirmed: bool
    place: Place | None = None
    causes: tuple[Cause, ...] = ()
    crashes: bool = False


def localise_faults(comparison: Comparison, most: int = MOST_FAULTS) -> list[Culprit]:
    """Return the faults in call order; the comparison ends with their healing in place."""
    found: list[Culprit] = []
    given_up: set[int] = set()
    while len(found) < most:
        frontier = comparison.frontier(skip=given_up)
        if not frontier:
            break
        culprit = _resolve(comparison, frontier[0])
        if not culprit.confirmed:
            culprit = _crash(comparison) or culprit
        found.append(culprit)
        if not culprit.confirmed:
            for call in culprit.calls:
                given_up.update((call, *comparison.downstream(call)))
    return sorted(found, key=lambda culprit: culprit.calls[0])


def _crash(comparison: Comparison) -> Culprit | None:
    """Return a call that makes the candidate fail, replaced so that what follows runs."""
    for node in comparison.failing:
        revived = revive(comparison, node)
        if revived is None:
            continue
        call, trial, failing = revived
        culprit = _accept_crash(comparison, node, call, trial)
        graph = comparison.candidate.graph
        behind = set(graph.downstream([trial.place.tensor])) if graph is not None else set()
        others = [number for number in comparison.failing if number not in behind]
        comparison.failing = sorted([*others, *failing])
        return culprit
    return None


def _accept_crash(comparison: Comparison, node: int, call: Call, trial: Trial) -> Culprit:
    group = _untensored(comparison, call)
    culprit = Culprit(
        calls=tuple(group),
        port=trial.place.port,
        tensor=trial.place.tensor,
        local_error=float("inf"),
        absent=False,
        confirmed=True,
        crashes=True,
    )
    known = [cause for cause in causes_of(comparison, culprit) if cause.kind != "unknown"]
    causes = (_misfit(comparison, trial, node), *known)
    _apply(comparison, trial, group)
    return replace(culprit, causes=causes)


def _misfit(comparison: Comparison, trial: Trial, node: int) -> Cause:
    """Return in which shape or type a call hands its value on, and what fails on it."""
    graph = comparison.candidate.graph
    assert graph is not None
    where = failing_layer(comparison, node) or graph.nodes[node].name or graph.nodes[node].op_type
    seen, wanted = comparison.value(trial.place.tensor), trial.injection.value
    kind, told = "shape", f"shape {list(seen.shape)} instead of {list(wanted.shape)}"
    if seen.shape == wanted.shape:
        kind, told = "type", f"{seen.dtype} instead of {wanted.dtype}"
    return Cause(kind=kind, text=f"it hands on {told}, on which {where} fails", strength=3)


def _untensored(comparison: Comparison, call: Call) -> list[int]:
    """Return a call, with the calls folded into it: those before it that have no tensor."""
    group, queue = {call.id}, [call]
    while queue:
        current = queue.pop()
        if any(port in comparison.matches for port in current.outputs):
            continue
        for port in current.inputs:
            before = comparison.calls.get(port.call)
            if before is not None and comparison.kinds[before.id] == "open":
                group.add(before.id)
                queue.append(before)
    return sorted(group)


def _resolve(comparison: Comparison, call: Call) -> Culprit:
    """Return the culprit at a frontier call, healed where that is possible.

    If the call alone does not heal all that reads it, it may be folded into one behind it, or
    what reads it may have a fault of its own: whatever makes more values agree is taken.
    """
    own = _best(comparison, call, call)
    if own is not None and own.healed:
        return _accept(comparison, call, call, own)
    joint = joint_trial(comparison, call)
    if joint is not None and (own is None or joint[1] > own.gained):
        own, gained = joint
    else:
        gained = own.gained if own is not None else 0
    partial = (call, own) if own is not None else None
    for target in _targets(comparison, call)[1:]:
        trial = _best(comparison, call, target)
        if trial is None:
            continue
        if trial.healed and gained <= trial.gained + 1:
            return _accept(comparison, call, target, trial)
        if trial.gained > gained:
            partial, gained = (target, trial), trial.gained
    return _accept(comparison, call, *partial) if partial else _unresolved(comparison, call)


def _best(comparison: Comparison, call: Call, target: Call) -> Trial | None:
    """Return the first trial at a call's tensors that heals it, else the one that gains most."""
    best: Trial | None = None
    for port in _own_ports(target, comparison)[:1]:
        for place in places(comparison, call, port):
            trial = try_place(comparison, target, place)
            if trial is None or trial.lost > trial.gained:
                continue
            if trial.healed:
                return trial
            if trial.gained and (best is None or trial.gained > best.gained):
                best = trial
    return best


def _targets(comparison: Comparison, call: Call) -> list[Call]:
    """Return a frontier call, then open calls behind it: the nearest, and its container's end."""
    behind = [
        comparison.calls[number]
        for number in comparison.downstream(call.id)
        if comparison.kinds[number] == "open"
    ]
    nearest = behind[:_MOST_SUCCESSORS]
    ends = [
        comparison.calls[port.call]
        for container in _containers(comparison, call)
        for port in comparison.recording.containers.get(container, ())
        if port.call in comparison.calls
    ]
    ordered = [call, *nearest, *(end for end in ends if end in behind)]
    return list({target.id: target for target in ordered}.values())


def _containers(comparison: Comparison, call: Call) -> list[int]:
    found = []
    number = call.within
    while number is not None and number in comparison.recording.container_of:
        found.append(number)
        number = comparison.recording.container_of[number][2]
    return found


def _own_ports(call: Call, comparison: Comparison) -> list[Port]:
    """Return the outputs of a call that others read, the unmatched first."""
    own = [port for port in call.outputs if port.call == call.id]
    return sorted(own, key=lambda port: port in comparison.matches)


def _accept(comparison: Comparison, call: Call, target: Call, trial: Trial) -> Culprit:
    group = _between(comparison, call, target)
    place = trial.place
    seen = comparison.value(place.tensor)
    wanted = place.layout.apply(comparison.recording.value(place.port), seen.shape)
    culprit = Culprit(
        calls=tuple(group),
        port=place.port,
        tensor=place.tensor,
        local_error=relative_error(seen, wanted),
        absent=place.distance == 0,
        confirmed=True,
        place=place,
    )
    culprit = replace(culprit, causes=tuple(causes_of(comparison, culprit)))
    _apply(comparison, trial, group)
    return culprit


def _apply(comparison: Comparison, trial: Trial, group: list[int]) -> None:
    """Keep an injection, so that what lies behind it is compared on good values."""
    comparison.injections.append(trial.injection)
    comparison.overlay.update(trial.values)
    comparison.matches = trial.matches
    comparison.healed.update(group)
    comparison.refresh()


def _between(comparison: Comparison, call: Call, target: Call) -> list[int]:
    """Return the open calls from the frontier to the healed call, both included."""
    if call.id == target.id:
        return [call.id]
    inside = {target.id}
    for other in reversed(comparison.recording.calls):
        if comparison.kinds[other.id] in GOOD or other.id in inside:
            continue
        if any(reader in inside for reader in comparison.readers[other.id]):
            inside.add(other.id)
    behind = {call.id, *comparison.downstream(call.id)}
    return sorted(number for number in inside if number in behind)


def _unresolved(comparison: Comparison, call: Call) -> Culprit:
    port = next((port for port in call.outputs if port.call == call.id), call.outputs[0])
    options = places(comparison, call, port) or resembling(comparison, port)
    best = min(options, key=lambda place: place.loose, default=None)
    crashes = bool(comparison.failing) and best is None
    return Culprit(
        calls=tuple(_together(comparison, call) if crashes else [call.id]),
        port=port,
        tensor=best.tensor if best else "",
        local_error=best.loose if best else float("inf"),
        absent=False,
        confirmed=False,
        place=best,
        causes=tuple(_failing_here(comparison)) if crashes else (),
        crashes=crashes,
    )


def _failing_here(comparison: Comparison) -> list[Cause]:
    graph = comparison.candidate.graph
    assert graph is not None
    node = graph.nodes[comparison.failing[0]]
    told = f"{node.op_type} node {node.name}" if node.name else f"a node of type {node.op_type}"
    return [Cause(kind="crash", text=f"{told} fails in it", strength=1)]


def _together(comparison: Comparison, call: Call) -> list[int]:
    """Return a call that the candidate fails in, with its neighbours that fail with it.

    Layers of one container, such as both directions of an LSTM, may be one node.
    """
    layers = {failing_layer(comparison, node) for node in comparison.failing}
    mates = [
        other
        for other in comparison.frontier(skip=set())
        if other.within == call.within and call.within is not None
    ]
    named = [other.id for other in mates if other.path in layers]
    return named or [other.id for other in mates] or [call.id]
