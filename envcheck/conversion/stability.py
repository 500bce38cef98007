"""Whether a side gives the same outputs for the same inputs twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.recording import call_model
from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.investigation import Investigation
    from envcheck.conversion.runtimes.protocol import Candidate
    from envcheck.conversion.stores import Store

__all__ = ["unstable_sides"]

_ROUNDING = 1e-3
"""Relative error between two runs of a candidate beyond which it is not rounding."""


def unstable_sides(
    model: Any, candidate: Candidate, found: Investigation, feeds: dict[str, Array]
) -> list[str]:
    """Return the sides whose outputs differ from themselves in a second run."""
    import keras
    import numpy as np

    recording, comparison = found.recording, found.comparison
    assert recording is not None
    assert comparison is not None
    again = keras.tree.flatten(call_model(model, found.samples.packed()))
    sides = []
    for port, value in zip(recording.outputs, again, strict=True):
        first = recording.value(port)
        gap = relative_error(np.asarray(value), first) if first.dtype.kind == "f" else 0.0
        if gap > comparison.tolerance(port):
            sides.append("the reference")
            break
    if found.failure is None and _differs(candidate, feeds, comparison.store):
        sides.append("the candidate")
    return sides


def _differs(candidate: Candidate, feeds: dict[str, Array], store: Store) -> bool:
    """Return whether a candidate that ran gives other outputs now, or none."""
    try:
        values = candidate.run(feeds)
    except Failure:
        return True
    return any(
        value.dtype.kind == "f" and relative_error(value, store.get(feed.name)) > _ROUNDING
        for feed, value in zip(candidate.outputs, values, strict=True)
    )
