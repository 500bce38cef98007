"""Which layer is the first that no longer computes what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import MissingExtra
from envcheck.goldens.engines import RunFailed, first_batch
from envcheck.goldens.layers import error_between
from envcheck.goldens.measuring import DRIFT, Distance, limit_for

if TYPE_CHECKING:
    from envcheck.goldens.document import Golden
    from envcheck.goldens.engines import Engine

__all__ = ["first_drift"]


def first_drift(engine: Engine, recording: Golden) -> tuple[Distance | None, str]:
    """Return the first layer beyond its noise, or None; and a remark where that needs one.

    Layers are known by name, so both sides must be of one format: across a conversion the names
    are others, and `envcheck parity` is what finds its way.
    """
    from envcheck.goldens.feeding import matched

    try:
        feeds = first_batch(engine, matched(engine.inputs, recording.inputs))
        here = {layer.name: layer for layer in engine.layers(feeds)[""]}
    except (RunFailed, MissingExtra) as problem:
        reason = str(problem).strip().partition("\n")[0][:200]
        return None, f"the recorded layers were not replayed: {reason}"
    known = [layer for layer in recording.layers if layer.name in here]
    if not known:
        return None, ("the recorded layers have other names in this model, so which of them drifts"
                      " first is not known; envcheck parity compares across formats")  # fmt: skip
    few = ""
    if len(known) < len(recording.layers):
        few = (f"{len(known)} of the {len(recording.layers)} recorded layers have the same name in"
               " this model; only these were compared")  # fmt: skip
    for layer in known:
        error, limit = error_between(here[layer.name], layer), limit_for(layer.dtype, layer.noise)
        if error > limit:
            return Distance(layer.name, DRIFT, error, limit, 0.0, 0, 0, f"({layer.kind})"), few
    return None, few or "no recorded layer is beyond its noise by itself"
