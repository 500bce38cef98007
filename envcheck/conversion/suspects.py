"""Tell a layer that was folded into others from one whose tensor is there, and differs.

That all which reads a layer agrees does not prove that the layer was folded: pooling, clipping or
saturation may have absorbed a difference. A tensor of the candidate that nothing else accounts
for and that resembles the layer's value is that layer's, computed wrongly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.layouts import layout_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Port
    from envcheck.conversion.tracing import Comparison

__all__ = ["suspects"]

RESEMBLES = 0.05
"""Relative error up to which a tensor counts as a layer's own.

A convolution resembles the normalisation that it was folded into by 0.2 to 0.4.
"""


def suspects(comparison: Comparison) -> frozenset[int]:
    """Return the calls without a match whose tensor is there all the same, with other values."""
    taken = {match.tensor for match in comparison.matches.values()}
    taken |= {feed.name for feed in comparison.candidate.inputs}
    return frozenset(
        port.call
        for call in comparison.recording.calls
        for port in call.outputs
        if port.call == call.id
        and port not in comparison.matches
        and any(_resembles(comparison, port, name) for name in _free(comparison, port, taken))
    )


def _free(comparison: Comparison, port: Port, taken: set[str]) -> Iterator[str]:
    wanted = comparison.recording.value(port)
    if not is_number(wanted) or is_exact_kind(wanted) or wanted.size < 2:
        return
    for name in comparison.index.of_size(wanted.size):
        tensor = comparison.tensors.get(name)
        if name not in taken and tensor is not None and tensor.op != "initialiser":
            yield name


def _resembles(comparison: Comparison, port: Port, name: str) -> bool:
    wanted, seen = comparison.recording.value(port), comparison.store.get(name)
    if seen.dtype.kind != "f":
        return False
    layout = layout_between(wanted.shape, seen.shape)
    if layout is None:
        return False
    value = layout.restore(seen, wanted.shape)
    if relative_error(value, wanted) > RESEMBLES:
        return False
    return relative_error(_fitted(value, wanted), wanted) > comparison.tolerance(port)


def _fitted(value: Array, wanted: Array) -> Array:
    """Return a value with the factor and offset per channel that bring it nearest to another.

    What a layer's value is before its bias is added, or before a normalisation that was folded
    scales it, becomes equal; it is a step on the way and no fault.
    """
    import numpy as np

    channels = wanted.shape[-1] if wanted.ndim > 1 else 1
    a = value.reshape(-1, channels).astype(np.float64)
    b = wanted.reshape(-1, channels).astype(np.float64)
    mean_a, mean_b = a.mean(axis=0), b.mean(axis=0)
    spread = ((a - mean_a) ** 2).sum(axis=0)
    factor = ((a - mean_a) * (b - mean_b)).sum(axis=0) / np.maximum(spread, 1e-300)
    factor = np.where(spread > 0, factor, 1.0)
    return ((a - mean_a) * factor + mean_b).reshape(wanted.shape)
