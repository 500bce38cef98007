"""Inject the reference's value at a tensor and see whether everything behind it agrees again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import GOOD, Match
from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.calls import Port
from envcheck.conversion.graphs import Injection
from envcheck.conversion.layouts import IDENTITY, Layout, layout_between
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.conversion.sketches import Index

if TYPE_CHECKING:
    from collections.abc import Callable

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Call
    from envcheck.conversion.graphs import Graph
    from envcheck.conversion.tracing import Comparison

__all__ = ["Place", "Trial", "channels_first", "judge_trial", "places", "resembling", "try_place"]

MOST_PLACES = 6
"""Tensors tried per call."""
_FAR = 1e9
_RESEMBLES = 0.9
_CHANNELS_FIRST_OPS = frozenset(
    ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "BatchNormalization", "LpPool",
     "GlobalAveragePool", "GlobalMaxPool", "InstanceNormalization", "GroupNormalization",
     "DepthToSpace", "SpaceToDepth", "ConvInteger", "QLinearConv", "LRN")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Place:
    """A tensor that may stand for the value of a port.

    `distance` counts nodes from the inputs of the frontier call; 0 means that the candidate
    hands the input through, so the layer is absent. `readers` limits the injection to some of
    the nodes that read the tensor.
    """

    port: Port
    tensor: str
    layout: Layout
    distance: int
    loose: float
    readers: frozenset[int] | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What an injection changed.

    `healed` says that all that reads the call agrees now; `gained` and `lost` count values.
    """

    place: Place
    healed: bool
    gained: int
    lost: int
    matches: dict[Port, Match]
    values: dict[str, Array]
    injection: Injection


def places(comparison: Comparison, frontier: Call, port: Port) -> list[Place]:
    """Return the tensors reachable from the frontier's inputs that may hold a port's value.

    The tensor that resembles the value most comes first.
    """
    graph = comparison.candidate.graph
    if graph is None or not comparison.candidate.parts:
        return []
    wanted = comparison.recording.value(port)
    if not is_number(wanted):
        return []
    taken = {match.tensor for owner, match in comparison.matches.items() if owner != port}
    found = []
    for name, distance in graph.distances(comparison.starts(frontier)).items():
        if (distance and name in taken) or not comparison.has(name):
            continue
        seen = comparison.value(name)
        if seen.size != wanted.size or not is_number(seen):
            continue
        if is_exact_kind(seen) and not is_exact_kind(wanted):
            continue
        found += _with_readers(graph, _place(graph, comparison, port, name, distance))
    found.sort(key=lambda place: (place.readers is not None, place.loose, place.distance))
    return found[:MOST_PLACES]


def _place(graph: Graph, comparison: Comparison, port: Port, name: str, distance: int) -> Place:
    wanted, seen = comparison.recording.value(port), comparison.value(name)
    first = channels_first(graph, name) if wanted.ndim >= 3 else None
    layout = layout_between(wanted.shape, seen.shape, channels_first=first) or IDENTITY
    loose = relative_error(seen, layout.apply(wanted, seen.shape))
    return Place(
        port=port,
        tensor=name,
        layout=layout,
        distance=distance,
        loose=min(loose, _FAR),
    )


def resembling(comparison: Comparison, port: Port) -> list[Place]:
    """Return the unmatched tensor of a candidate without a graph that resembles a value most."""
    wanted = comparison.recording.value(port)
    if comparison.candidate.parts or not is_number(wanted):
        return []
    taken = {match.tensor for match in comparison.matches.values()}
    found = []
    for name in comparison.index.of_size(wanted.size):
        seen = comparison.value(name)
        layout = layout_between(wanted.shape, seen.shape)
        if name in taken or layout is None:
            continue
        loose = relative_error(seen, layout.apply(wanted, seen.shape))
        if loose < _RESEMBLES:
            found.append(Place(port=port, tensor=name, layout=layout, distance=1, loose=loose))
    return found


def _with_readers(graph: Graph, place: Place) -> list[Place]:
    """Return the place and, for a layer that may be absent, one for each node that reads it."""
    found = [place]
    readers = graph.readers.get(place.tensor, [])
    if place.distance == 0 and 1 < len(readers) <= 4:
        found += [
            Place(
                port=place.port,
                tensor=place.tensor,
                layout=place.layout,
                distance=0,
                loose=place.loose,
                readers=frozenset({reader}),
            )
            for reader in readers
        ]
    return found


def channels_first(graph: Graph, name: str) -> bool | None:
    """Return whether a tensor of an ONNX graph has its channels before its space, if known.

    Convolutions, pooling and the like fix it; elementwise nodes keep what their input has.
    """
    for _ in range(40):
        number = graph.maker.get(name)
        if number is None:
            return False if any(item.name == name for item in graph.inputs) else None
        node = graph.nodes[number]
        if node.op_type in _CHANNELS_FIRST_OPS:
            return True
        if node.op_type == "Transpose":
            order = next((list(a.ints) for a in node.attribute if a.name == "perm"), [])
            rank = len(order)
            if order == [0, rank - 1, *range(1, rank - 1)]:
                return True
            if order == [0, *range(2, rank), 1]:
                return False
        if node.op_type in ("Reshape", "Flatten", "MatMul", "Gemm"):
            return None if node.op_type == "Reshape" else False
        dynamic = [item for item in node.input if item and item not in graph.initialisers]
        if not dynamic:
            return None
        name = dynamic[0]
    return None


def try_place(comparison: Comparison, call: Call, place: Place) -> Trial | None:
    """Inject the reference's value of a call and compare everything behind it."""
    graph = comparison.candidate.graph
    assert graph is not None
    wanted = comparison.recording.value(place.port)
    seen = comparison.value(place.tensor)
    value = place.layout.apply(wanted, seen.shape).astype(seen.dtype)
    injection = Injection(tensor=place.tensor, value=value, readers=place.readers)
    numbers = graph.downstream([place.tensor], place.readers)
    try:
        values = _run_behind(comparison, graph, numbers, injection)
    except Failure:
        return None
    return judge_trial(comparison, call, place, values, injection)


def _run_behind(
    comparison: Comparison, graph: Graph, numbers: list[int], injection: Injection
) -> dict[str, Array]:
    """Return the values of all nodes behind an injection; what is before them is not run."""
    if not numbers:
        return {}
    injections = [*comparison.injections, injection]
    alive = [n for n in numbers if all(comparison.has(o) for o in graph.nodes[n].output if o)]
    wanted = [name for number in alive for name in graph.nodes[number].output if name]
    feeds = {name: comparison.value(name) for name in graph.boundary(alive) if comparison.has(name)}
    comparison.runs += 1
    return comparison.candidate.run_part(alive, wanted, feeds, injections)


def judge_trial(
    comparison: Comparison,
    call: Call,
    place: Place,
    values: dict[str, Array],
    injection: Injection,
) -> Trial:
    """Return what an injection changed, given the values of the nodes behind it."""

    def value(name: str) -> Array:
        if name == place.tensor and place.readers is None:
            return injection.value
        return values[name] if name in values else comparison.value(name)

    behind = set(comparison.downstream(call.id))
    kept, lost = _recheck(comparison, values, value)
    index = Index(values.items())
    fresh = comparison.aligner.align(_open_ports(comparison, behind, kept), index, value)
    matches = {**kept, **fresh}
    if comparison.value(place.tensor).size == injection.value.size:
        matches[place.port] = Match(tensor=place.tensor, layout=place.layout, error=place.loose)
    healed = frozenset({*comparison.healed, call.id})
    kinds = comparison.classified(matches, healed, value)
    followers = [kinds[reader] in GOOD for reader in comparison.readers[call.id]]
    finals = [
        comparison.output_agrees(number, value)
        for number, port in enumerate(comparison.recording.outputs)
        if port.call == call.id
    ]
    return Trial(
        place=place,
        healed=all(followers + finals) and bool(followers or finals),
        gained=len(fresh),
        lost=lost,
        matches=matches,
        values=values,
        injection=injection,
    )


def _open_ports(comparison: Comparison, behind: set[int], kept: dict[Port, Match]) -> list[Port]:
    return [
        port
        for call in comparison.recording.calls
        if call.id in behind
        for port in call.outputs
        if port.call == call.id and port not in kept
    ]


def _recheck(
    comparison: Comparison, values: dict[str, Array], value: Callable[[str], Array]
) -> tuple[dict[Port, Match], int]:
    """Return the matches that still hold under new values, and how many do not."""
    kept, lost = {}, 0
    for port, match in comparison.matches.items():
        if match.tensor in values and port.call not in comparison.healed:
            seen, wanted = value(match.tensor), comparison.recording.value(port)
            same = seen.size == wanted.size
            turned = match.layout.apply(wanted, seen.shape) if same else wanted
            if not same or relative_error(seen, turned) > comparison.tolerance(port):
                lost += 1
                continue
        kept[port] = match
    return kept, lost
