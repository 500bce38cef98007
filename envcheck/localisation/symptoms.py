"""Where numbers went wrong in a fit: the first layer and the batches between which it happened.

A symptom says what was seen, never why: rules attach it to a cause. What each kind means, where
its threshold comes from and what keeps it silent stands with the function that finds it. The
idea of naming the first layer and batch is that of DeepLocalize (Wardat et al., ICSE 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.probe_history import History, Moment

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "Symptom", "bracket", "symptoms_of"]

KINDS = (
    "nonfinite-input", "nonfinite-target", "nonfinite-weights", "nonfinite-values",
    "nonfinite-gradient", "nonfinite-loss", "nonfinite-step", "overflow", "exploding",
    "vanishing", "dead", "dying", "saturated", "constant", "frozen", "unchanged",
    "still",
)  # fmt: skip
"""The kinds of symptoms."""


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """One thing that went wrong with the numbers of a fit."""

    kind: str
    layer: str = ""
    """Path of the layer, empty where the whole model is concerned or no layer can be named."""
    tensor: str = ""
    """`values`, `gradient of kernel`, or the name of a weight."""
    bad: Moment
    """The first moment at which it was seen."""
    good: Moment | None = None
    """The last moment before it at which all was well; None for none."""
    seen: str
    expected: str
    others: tuple[str, ...] = ()
    """Further layers in the same state, in forward order."""
    sources: tuple[str, ...] = ()
    """Places within the fit, such as `probes/3/layers/0/dead_share`."""
    series: tuple[dict[str, Any], ...] = ()


def symptoms_of(fit: Mapping[str, Any], model: Mapping[str, Any] | None) -> list[Symptom]:
    """Return the symptoms of a fit of a training log, at most one of each kind.

    Once a number is not finite nothing after it says anything: only earlier probes are looked at
    for the other kinds.
    """
    from envcheck.localisation.symptom_gradients import exploding, vanishing
    from envcheck.localisation.symptom_nonfinite import nonfinite
    from envcheck.localisation.symptom_units import constant, dead, saturated
    from envcheck.localisation.symptom_updates import frozen, still, unchanged

    history = History(fit, model)
    broken = nonfinite(history)
    found = [broken]
    if broken is not None:
        history = history.until(broken.bad.step)
    found += [
        find(history)
        for find in (
            exploding, vanishing, dead, saturated, constant, frozen, unchanged, still,
        )
    ]  # fmt: skip
    kept = [symptom for symptom in found if symptom is not None]
    if broken is not None and broken.kind == "overflow":
        kept = [symptom for symptom in kept if symptom.kind != "exploding"]
    return kept


def bracket(symptom: Symptom) -> str:
    """Return between which batches a symptom began, as text; batches count from 1.

    A probe after k batches of an epoch sees what the first k batches did.
    """
    bad, good = symptom.bad, symptom.good
    if bad.step == 0:
        moves = symptom.kind in ("frozen", "unchanged")
        return "from the first batch on" if moves else "before the first batch"
    if good is None:
        return f"by {bad}"
    if good.step == 0:
        return f"between the start of training and {bad}"
    if good.epoch == bad.epoch and good.batch > 0:
        return f"between batch {good.batch} and batch {bad.batch} of epoch {bad.epoch + 1}"
    return f"between {good} and {bad}"
