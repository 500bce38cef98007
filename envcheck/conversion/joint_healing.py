"""Heal several calls at once, where only together they heal what reads them.

Two faults whose values meet in one layer, or one fault in a layer that is called twice, hide each
other: replacing either value alone makes nothing agree.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from envcheck.conversion.healing import places, try_place

if TYPE_CHECKING:
    from envcheck.conversion.calls import Call
    from envcheck.conversion.healing import Place, Trial
    from envcheck.conversion.tracing import Comparison

__all__ = ["joint_trial"]

_MOST_MATES = 3
_MOST_PLACES = 2


def joint_trial(comparison: Comparison, call: Call) -> tuple[Trial, int] | None:
    """Return the trial of a call that makes most values agree while its mates are healed too.

    Mates are other calls of the frontier that share a reader with it. The trial is that of the
    call alone; with it comes how many values agree in both together.
    """
    readers = set(comparison.readers[call.id])
    mates = [
        other
        for other in comparison.frontier(skip={call.id})
        if readers & set(comparison.readers[other.id])
    ]
    best: tuple[Trial, int] | None = None
    for place in _first(comparison, call, _MOST_PLACES) if 0 < len(mates) <= _MOST_MATES else ():
        gained = _gained(comparison, call, place, mates)
        alone = try_place(comparison, call, place) if gained else None
        if alone is not None and alone.lost == 0 and (best is None or gained > best[1]):
            best = (alone, gained)
    return best


def _first(comparison: Comparison, call: Call, most: int) -> list[Place]:
    port = next((port for port in call.outputs if port not in comparison.matches), None)
    return places(comparison, call, port)[:most] if port is not None else []


def _gained(comparison: Comparison, call: Call, place: Place, mates: list[Call]) -> int:
    """Return how many values agree once the mates and then the call are healed."""
    trial_run = copy(comparison)
    trial_run.injections = list(comparison.injections)
    trial_run.overlay = dict(comparison.overlay)
    trial_run.healed = set(comparison.healed)
    gained = 0
    for other, there in [*((m, p) for m in mates for p in _first(trial_run, m, 1)), (call, place)]:
        trial = try_place(trial_run, other, there)
        if trial is None or trial.lost > trial.gained:
            return 0
        trial_run.injections.append(trial.injection)
        trial_run.overlay.update(trial.values)
        trial_run.matches = trial.matches
        trial_run.healed.add(other.id)
        gained += trial.gained
    comparison.runs = trial_run.runs
    return gained
