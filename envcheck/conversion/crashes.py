"""Find the call that makes the candidate fail at a later node.

A wrong shape is noticed by the first node that it does not fit, which may belong to another
layer. So the reference's value, in its own shape and type, is put in the place of what each
earlier call hands on: the first call for which the failing node then runs is at fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.arrays import is_number, relative_error
from envcheck.conversion.graphs import Injection
from envcheck.conversion.healing import Place, Trial, channels_first, judge_trial
from envcheck.conversion.layouts import IDENTITY, conventional
from envcheck.conversion.naming import layer_in
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.conversion.surviving import run_survivors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Call, Port
    from envcheck.conversion.graphs import Graph
    from envcheck.conversion.layouts import Layout
    from envcheck.conversion.tracing import Comparison

__all__ = ["failing_layer", "revive"]

_MOST_TRIALS = 32
_MOST_TENSORS = 4
"""Tensors tried per call that has none with its values."""
_MOST_OPEN = 4
"""Calls without a tensor that are tried, where the failing node's own layer is not known."""


def failing_layer(comparison: Comparison, node: int) -> str:
    """Return the path of the layer in whose name scope a node lies, or nothing."""
    graph = comparison.candidate.graph
    assert graph is not None
    names = [name for item in graph.nodes for name in (item.name, *item.output)]
    paths = [call.path for call in comparison.recording.calls]
    return layer_in(graph.nodes[node].name, paths, names)


def revive(comparison: Comparison, node: int) -> tuple[Call, Trial, list[int]] | None:
    """Return the call whose reference value lets a failing node run, or None.

    With it come what the value changed and the nodes that fail next.
    """
    graph = comparison.candidate.graph
    assert graph is not None
    before = {n for name in graph.reads(node) for n in graph.upstream(name)}
    best: tuple[Call, Trial, list[int]] | None = None
    for tried, (call, place) in enumerate(_suspects(comparison, graph, node, before)):
        if tried >= _MOST_TRIALS:
            break
        found = _try(comparison, graph, call, place, node, before)
        if found is None:
            continue
        trial = found[0]
        if trial.healed:
            return call, *found
        if not trial.gained and place.loose == float("inf"):
            continue
        if best is None or found[0].gained > best[1].gained:
            best = (call, *found)
    return best


def _suspects(
    comparison: Comparison, graph: Graph, node: int, before: set[int]
) -> Iterator[tuple[Call, Place]]:
    """Return the calls before a node with the tensors that may hold what they hand on, wrongly."""
    tensors = [
        name
        for number in sorted(before)
        for name in graph.nodes[number].output
        if name and comparison.has(name)
    ]
    for call in _earlier(comparison, node):
        for port in call.outputs:
            wanted = comparison.recording.value(port)
            if port.call != call.id or not is_number(wanted):
                continue
            if port in comparison.matches:
                found = _misshapen(comparison, graph, port, wanted, tensors)
            else:
                found = _unmatched(comparison, graph, call, port, wanted, tensors)
            for place in found:
                yield call, place


def _earlier(comparison: Comparison, node: int) -> list[Call]:
    """Return the calls that the failing node's layer depends on, in order.

    Where that layer is not known, all with a tensor, and the first few without.
    """
    calls = comparison.recording.calls
    path = failing_layer(comparison, node)
    failing = [call for call in calls if call.path == path]
    if not failing:
        still_open = [call for call in calls if comparison.kinds[call.id] == "open"]
        matched = [c for c in calls if any(port in comparison.matches for port in c.outputs)]
        chosen = {call.id for call in (*matched, *still_open[:_MOST_OPEN])}
        return [call for call in calls if call.id in chosen]
    ids = {call.id for call in failing}
    return [
        call for call in calls if call.id not in ids and ids & {*comparison.downstream(call.id)}
    ]


def _misshapen(
    comparison: Comparison, graph: Graph, port: Port, wanted: Array, tensors: list[str]
) -> list[Place]:
    """Return the tensors that hold a call's values in a shape, type or order that is not its own.

    Where convolutions fix that the channels come first, that order is right. A call that also
    has a tensor as it should be has handed its value on well, and whoever reads it misshaped it.
    """
    match = comparison.matches[port]
    shape = match.layout.permuted(wanted).shape
    found = []
    for name in tensors:
        seen = comparison.value(name)
        if seen.size != wanted.size or not is_number(seen):
            continue
        error = relative_error(seen, match.layout.apply(wanted, seen.shape))
        if error > max(comparison.tolerance(port), match.error):
            continue
        misfit = _plain(seen.shape) != _plain(shape) or seen.dtype != wanted.dtype
        turned = bool(match.layout.axes) and not channels_first(graph, name)
        if not misfit and not turned:
            return []
        layouts = [match.layout] * misfit + [IDENTITY] * turned
        found += [_place(port, name, layout, error) for layout in layouts]
    return sorted(found, key=lambda place: comparison.value(place.tensor).shape != wanted.shape)


def _unmatched(
    comparison: Comparison,
    graph: Graph,
    call: Call,
    port: Port,
    wanted: Array,
    tensors: list[str],
) -> list[Place]:
    """Return tensors of a call's rank behind its inputs that hold no other call's value."""
    taken = {match.tensor for match in comparison.matches.values()}
    distances = graph.distances(comparison.starts(call))
    found: list[tuple[bool, bool, int, Place]] = []
    for name in tensors:
        seen = comparison.value(name)
        if name in taken or not distances.get(name) or seen.ndim != wanted.ndim:
            continue
        if seen.dtype.kind != wanted.dtype.kind:
            continue
        first = channels_first(graph, name) if wanted.ndim >= 3 else None
        layout = conventional(wanted.ndim)[1] if first else IDENTITY
        place = _place(port, name, layout, float("inf"))
        foreign = not comparison.aligner.scope_agrees(port, name)
        found.append((foreign, seen.size != wanted.size, distances[name], place))
    found.sort(key=lambda option: option[:3])
    return [place for *_, place in found[:_MOST_TENSORS]]


def _place(port: Port, tensor: str, layout: Layout, loose: float) -> Place:
    return Place(port=port, tensor=tensor, layout=layout, distance=1, loose=loose)


def _plain(shape: tuple[int, ...]) -> list[int]:
    return [size for size in shape if size != 1]


def _try(
    comparison: Comparison,
    graph: Graph,
    call: Call,
    place: Place,
    node: int,
    before: set[int],
) -> tuple[Trial, list[int]] | None:
    """Put the reference's value in place and run the failing node; if it runs, all that follows."""
    value = place.layout.permuted(comparison.recording.value(place.port))
    injection = Injection(tensor=place.tensor, value=value)
    behind = graph.downstream([place.tensor])
    path = [number for number in behind if number in before or number == node]
    feeds = {name: comparison.value(name) for name in graph.boundary(path) if comparison.has(name)}
    injections = [*comparison.injections, injection]
    wanted = [name for name in graph.nodes[node].output if name]
    comparison.runs += 1
    try:
        comparison.candidate.run_part(path, wanted, feeds, injections)
    except Failure:
        return None
    values, failing = run_survivors(
        comparison.candidate, behind, comparison.has, comparison.value, injections
    )
    return judge_trial(comparison, call, place, values, injection), failing
