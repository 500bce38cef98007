"""Name the calls at fault: the frontier of what disagrees, confirmed by healing it.

Bisection would need a run for each halving, assume a single fault, and take an error that a
layer inherited for one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import GOOD
from envcheck.conversion.arrays import relative_error
from envcheck.conversion.explaining import causes_of
from envcheck.conversion.healing import Place, Trial, places, resembling, try_place

if TYPE_CHECKING:
    from envcheck.conversion.calls import Call, Port
    from envcheck.conversion.causes import Cause
    from envcheck.conversion.tracing import Comparison

__all__ = ["Culprit", "localise_faults"]

MOST_FAULTS = 8
_MOST_SUCCESSORS = 3


@dataclass(frozen=True, kw_only=True)
class Culprit:
    """A fault: the calls that share it, the tensor at its end, and how large it is by itself.

    `confirmed` says that replacing the tensor's value healed what follows.
    """

    calls: tuple[int, ...]
    port: Port
    tensor: str
    local_error: float
    absent: bool
    confirmed: bool
    place: Place | None = None
    causes: tuple[Cause, ...] = ()


def localise_faults(comparison: Comparison, most: int = MOST_FAULTS) -> list[Culprit]:
    """Return the faults in call order; the comparison ends with their healing in place."""
    found: list[Culprit] = []
    given_up: set[int] = set()
    while len(found) < most:
        frontier = comparison.frontier(skip=given_up)
        if not frontier:
            break
        culprit = _resolve(comparison, frontier[0])
        found.append(culprit)
        if not culprit.confirmed:
            given_up.add(frontier[0].id)
            given_up.update(comparison.downstream(frontier[0].id))
    return sorted(found, key=lambda culprit: culprit.calls[0])


def _resolve(comparison: Comparison, call: Call) -> Culprit:
    """Return the culprit at a frontier call, healed where that is possible."""
    partial: tuple[Call, Trial] | None = None
    for target in _targets(comparison, call):
        for port in _own_ports(target, comparison)[:1]:
            for place in places(comparison, call, port):
                trial = try_place(comparison, target, place)
                if trial is None or trial.lost > trial.gained:
                    continue
                if trial.healed:
                    return _accept(comparison, call, target, trial)
                if trial.gained and (partial is None or trial.gained > partial[1].gained):
                    partial = (target, trial)
    if partial is not None:
        return _accept(comparison, call, *partial)
    return _unresolved(comparison, call)


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
    comparison.injections.append(trial.injection)
    comparison.overlay.update(trial.values)
    comparison.matches = trial.matches
    comparison.healed.update(group)
    comparison.refresh()
    return culprit


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
    return Culprit(
        calls=(call.id,),
        port=port,
        tensor=best.tensor if best else "",
        local_error=best.loose if best else float("inf"),
        absent=False,
        confirmed=False,
        place=best,
    )
