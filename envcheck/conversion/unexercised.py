"""Weights of the candidate that differ where no sample shows it, read off the weights alone.

A changed row of an embedding that no sample looks up, or a changed weight behind units that are
zero for all samples, moves no value. The candidate holds a layer's weights as they are, with
their axes in another order, or with a batch normalisation folded in; where most elements of one
of its weights are those of the layer, the others are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import plain
from envcheck.conversion.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Call
    from envcheck.conversion.graphs import Graph
    from envcheck.conversion.tracing import Comparison

__all__ = ["Hidden", "hidden_changes"]

_SHARE = 0.5
"""Share of equal elements from which two weights are the same one."""
_FEWEST = 4
"""Equal elements, none of them zero, below which that may be chance."""
_SAMPLED = 4096
_NAMED = 4
_BLOCK = 1 << 22
"""Elements that are compared at once: large weights are not copied whole."""


@dataclass(frozen=True)
class Hidden:
    """A call whose values agree, and what is changed in its weights."""

    call: int
    cause: Cause


def hidden_changes(comparison: Comparison) -> list[Hidden]:
    """Return the calls whose values agree on these samples and whose weights do not.

    Calls that are open are left out: their weights are looked at as the cause of that.
    """
    graph = comparison.candidate.graph
    if graph is None:
        return []
    owners = {match.tensor: port for port, match in comparison.matches.items()}
    found: list[Hidden] = []
    seen: set[int] = set()
    for call in comparison.recording.calls:
        port = next((p for p in call.outputs if p.call == call.id), None)
        match = comparison.matches.get(port) if port else None
        if match is None or comparison.kinds[call.id] != "exact" or call.id in comparison.healed:
            continue
        stop = {name for name in owners if name != match.tensor}
        segment = graph.upstream(match.tensor, stop)
        for member, cause in _of_group(comparison, graph, _group(comparison, call), segment):
            if id(comparison.recording.layers[member]) not in seen:
                seen.add(id(comparison.recording.layers[member]))
                found.append(Hidden(member, cause))
    return found


def _group(comparison: Comparison, call: Call) -> list[Call]:
    """Return a call and the folded calls before it, which share its segment of the graph."""
    group, queue = [call], [call]
    while queue:
        for port in queue.pop().inputs:
            before = comparison.calls.get(port.call)
            if before and comparison.kinds[before.id] == "folded" and before not in group:
                group.append(before)
                queue.append(before)
    return group


def _of_group(
    comparison: Comparison, graph: Graph, group: list[Call], segment: list[int]
) -> Iterator[tuple[int, Cause]]:
    names = {n for number in segment for n in graph.reads(number) if n in graph.initialisers}
    held = {name: graph.initialiser(name) for name in sorted(names)}
    held = {name: value for name, value in held.items() if value.dtype.kind == "f"}
    layers = [(call.id, comparison.recording.layers[call.id]) for call in group]
    norm = next((x for _, x in layers if type(x).__name__ == "BatchNormalization"), None)
    for number, layer in layers:
        for name, value in _expected(layer, norm):
            cause = _change(f"{layer.name}/{name}", value, held)
            if cause is not None:
                yield number, cause


def _expected(layer: Any, norm: Any) -> Iterator[tuple[str, Array]]:
    """Yield the forms in which a candidate may hold a layer's weights."""
    import numpy as np

    for weight in getattr(layer, "weights", ()):
        value = _view(weight)
        if value.dtype.kind != "f" or value.size < _FEWEST:
            continue
        name = weight.path.rpartition("/")[2]
        yield name, value
        if norm is None or norm is layer or value.ndim < 3:
            continue
        gamma = plain(norm.gamma.numpy()) if norm.gamma is not None else 1.0
        variance = plain(norm.moving_variance.numpy()).astype(np.float64)
        factor = gamma / np.sqrt(variance + norm.epsilon)
        for axis in (value.ndim - 1, value.ndim - 2):
            if value.shape[axis] == factor.size:
                shape = [factor.size if place == axis else 1 for place in range(value.ndim)]
                yield f"{name}, {norm.name} folded in,", value * factor.reshape(shape)


def _view(weight: Any) -> Array:
    """Return the value of a weight, without a copy where the framework allows it."""
    import numpy as np

    read = getattr(getattr(weight, "value", None), "read_value", None)
    if read is not None and str(weight.dtype) == "float32":
        try:
            return np.asarray(memoryview(read()))
        except (TypeError, ValueError, BufferError):
            pass
    return plain(weight.numpy())


def _change(name: str, value: Array, held: Mapping[str, Array]) -> Cause | None:
    """Return how a weight differs from its counterpart; None where it does not, or has none."""
    import numpy as np

    if np.min(value) == np.max(value):
        return None
    changed = None
    for seen in held.values():
        for turned in _turned(value, seen):
            if not _is_likely(turned, seen):
                continue
            count, places = _places(turned, seen)
            if not count:
                return None
            changed = changed or _told(name, turned, seen, count, places)
    return changed


def _turned(value: Array, seen: Array) -> Iterator[Array]:
    """Yield a weight in every order of its axes that has the shape of another."""
    if value.size != seen.size:
        return
    kept = [size for size in seen.shape if size != 1]
    for axes in permutations(range(value.ndim)):
        if [value.shape[axis] for axis in axes if value.shape[axis] != 1] == kept:
            yield value.transpose(axes).reshape(seen.shape)


def _differ(turned: Array, seen: Array, scale: float) -> Array:
    """Return where two weights differ by more than folding in float32 rounds."""
    import numpy as np

    room = np.maximum(1e-5 * np.abs(turned), 1e-6 * scale)
    return ~(np.abs(turned - seen) <= room)


def _is_likely(turned: Array, seen: Array) -> bool:
    """Return whether most elements are equal, judged by some of them."""
    import numpy as np

    generator = np.random.default_rng(seen.size)
    flat = generator.integers(0, seen.size, _SAMPLED) if seen.size > _SAMPLED else None
    index = np.unravel_index(np.arange(seen.size) if flat is None else flat, seen.shape)
    a, b = turned[index], seen[index]
    real = a != 0
    equal = ~_differ(a, b, _rms(a)) & real
    return bool(equal.sum() >= max(_FEWEST, _SHARE * real.sum()))


def _rms(value: Array) -> float:
    import numpy as np

    return float(np.sqrt(np.mean(np.square(value.astype(np.float64)))))


def _places(turned: Array, seen: Array) -> tuple[int, list[tuple[int, ...]]]:
    """Return how many elements differ, and where the first ones are; a block at a time."""
    import numpy as np

    step = max(1, _BLOCK * seen.shape[0] // seen.size)
    count = 0
    first: list[tuple[int, ...]] = []
    for start in range(0, seen.shape[0], step):
        block = turned[start : start + step]
        found = np.argwhere(_differ(block, seen[start : start + step], _rms(block)))
        count += len(found)
        for row, *rest in found[: _NAMED - len(first)].tolist():
            first.append((row + start, *rest))
    return count, first


def _told(
    name: str, turned: Array, seen: Array, count: int, places: list[tuple[int, ...]]
) -> Cause:
    told = "; ".join(f"{list(p)} is {seen[p]:.6g} instead of {turned[p]:.6g}" for p in places)
    more = f" and {count - len(places)} more" if count > len(places) else ""
    return Cause(
        kind="weight-elements", strength=3,
        text=f"{count} of {seen.size} elements of weight {name} differ: {told}{more}",
    )  # fmt: skip
