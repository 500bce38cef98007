"""Before a first layer is blamed, ask whether the candidate is meant to be fed other values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.calls import INPUT
from envcheck.conversion.causes import Cause
from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Call
    from envcheck.conversion.tracing import Comparison

__all__ = ["input_cause"]

_SCALES = ((255.0, "times 255"), (1 / 255.0, "divided by 255"), (1 / 127.5, "divided by 127.5"))


def input_cause(comparison: Comparison, frontier: Call) -> tuple[int, Cause] | None:
    """Return the number of an input and what has to be done to it so that all outputs agree."""
    if not comparison.candidate.runs or not frontier.inputs:
        return None
    if any(port.call != INPUT for port in frontier.inputs):
        return None
    for port in dict.fromkeys(frontier.inputs):
        match = comparison.input_matches.get(port)
        if match is None or match.tensor not in comparison.feeds:
            continue
        value = comparison.feeds[match.tensor]
        if value.dtype.kind != "f":
            continue
        for changed, cause in _hypotheses(value):
            if _heals(comparison, {**comparison.feeds, match.tensor: changed}):
                return port.index, cause
    return None


def _hypotheses(value: Array) -> Iterator[tuple[Array, Cause]]:
    import numpy as np

    for axis in (-1, 1) if value.ndim == 4 else ():
        if value.shape[axis] == 3:
            text = "the candidate expects the colour channels in reverse order (RGB or BGR)"
            yield np.ascontiguousarray(np.flip(value, axis)), _cause("input-channels", text)
    for factor, words in _SCALES:
        text = f"the candidate expects its input {words}"
        yield (value * factor).astype(value.dtype), _cause("input-scale", text)
    text = "the candidate expects its input divided by 127.5, less 1"
    yield (value / 127.5 - 1).astype(value.dtype), _cause("input-scale", text)
    if value.ndim == 4 and value.shape[1] == value.shape[2]:
        turned = np.ascontiguousarray(value.transpose(0, 2, 1, 3))
        yield turned, _cause("input-layout", "the candidate expects height and width exchanged")


def _cause(kind: str, text: str) -> Cause:
    return Cause(kind=kind, text=text, strength=3)


def _heals(comparison: Comparison, feeds: dict[str, Array]) -> bool:
    """Return whether every output agrees when the candidate is fed other values."""
    comparison.runs += 1
    try:
        values = dict(
            zip((f.name for f in comparison.candidate.outputs),
                comparison.candidate.run(feeds), strict=True)
        )  # fmt: skip
    except Failure:
        return False
    for place, port in enumerate(comparison.recording.outputs):
        wanted = comparison.recording.value(port)
        seen = values[comparison.outputs[place]]
        room = max(comparison.tolerance(port), 1e-4)
        if seen.size != wanted.size or relative_error(seen, wanted) > room:
            return False
    return True
