"""Say what was done to a culprit: from its weights, attributes, values and absence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import is_number
from envcheck.conversion.attribute_causes import activation_cause, attribute_causes
from envcheck.conversion.causes import Cause
from envcheck.conversion.error_shapes import error_causes
from envcheck.conversion.weight_causes import weight_causes

if TYPE_CHECKING:
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.localisation import Culprit
    from envcheck.conversion.tracing import Comparison

__all__ = ["causes_of", "segment_of"]

_MOST_NODES = 200


def segment_of(comparison: Comparison, culprit: Culprit) -> list[int]:
    """Return the nodes between the culprit's aligned inputs and its tensor."""
    graph = comparison.candidate.graph
    if graph is None or not culprit.tensor:
        return []
    group = set(culprit.calls)
    stop = {
        match.tensor
        for port, match in comparison.matches.items()
        if port.call not in group and match.tensor != culprit.tensor
    }
    return graph.upstream(culprit.tensor, stop)


def causes_of(comparison: Comparison, culprit: Culprit) -> list[Cause]:
    """Return the causes that the evidence supports, the strongest first."""
    layers = [comparison.recording.layers[call] for call in culprit.calls]
    segment = segment_of(comparison, culprit)
    found: list[Cause] = []
    if culprit.absent:
        found.append(_absent(comparison, culprit))
    elif 0 < len(segment) <= _MOST_NODES:
        found += _from_segment(comparison, layers, segment)
    if culprit.place is not None and not culprit.absent:
        found += _from_values(comparison, culprit, layers[-1], segment)
    found.sort(key=lambda cause: -cause.strength)
    return found or [Cause(kind="unknown", text="the evidence fits no known cause", strength=0)]


def _absent(comparison: Comparison, culprit: Culprit) -> Cause:
    call = comparison.calls[culprit.calls[-1]]
    return Cause(
        kind="layer-absent", strength=3,
        text=f"{call.layer_class} {call.label} is missing: what follows reads its input"
        f" ({culprit.tensor}) directly",
    )  # fmt: skip


def _from_segment(comparison: Comparison, layers: list[Any], segment: list[int]) -> list[Cause]:
    graph = comparison.candidate.graph
    assert graph is not None
    nodes = [graph.nodes[number] for number in segment]
    names = {n for number in segment for n in graph.reads(number) if n in graph.initialisers}
    held = {name: graph.initialiser(name) for name in sorted(names)}
    scalars = {n: float(w.reshape(-1)[0]) for n, w in held.items() if w.size == 1 and is_number(w)}
    weights = {name: value for name, value in held.items() if value.dtype.kind == "f"}
    return [*weight_causes(layers, weights), *attribute_causes(layers, nodes, scalars)]


def _from_values(
    comparison: Comparison, culprit: Culprit, layer: Any, segment: list[int]
) -> list[Cause]:
    place, wanted = culprit.place, comparison.recording.value(culprit.port)
    assert place is not None
    seen = place.layout.restore(comparison.value(culprit.tensor), wanted.shape)
    found = error_causes(seen, wanted, comparison.tolerance(culprit.port))
    inner, ops = _inner_values(comparison, culprit, segment)
    try:
        activation = activation_cause(layer, seen, wanted, inner, ops)
    except Exception:  # noqa: BLE001 - an activation of any origin
        activation = None
    return [activation, *found] if activation is not None else found


def _inner_values(
    comparison: Comparison, culprit: Culprit, segment: list[int]
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the segment's other tensors of the culprit's size, and the operators after them."""
    graph, place = comparison.candidate.graph, culprit.place
    if graph is None or place is None:
        return {}, {}
    wanted = comparison.recording.value(culprit.port)
    inner: dict[str, Array] = {}
    ops: dict[str, str] = {}
    for number in segment:
        for name in graph.nodes[number].output:
            if name == culprit.tensor or not comparison.has(name):
                continue
            value = comparison.value(name)
            if value.size == wanted.size and value.dtype.kind == "f":
                inner[name] = place.layout.restore(value, wanted.shape)
                after = [graph.nodes[n].op_type for n in graph.readers.get(name, [])]
                ops[name] = " and ".join(sorted(set(after))) or "nothing"
    return inner, ops
