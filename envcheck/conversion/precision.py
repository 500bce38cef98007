"""Tell a candidate of lower precision throughout from one with faults."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import Match
from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.forcing import force, local_errors
from envcheck.conversion.healing import channels_first
from envcheck.conversion.layouts import layout_between
from envcheck.conversion.localisation import localise_faults
from envcheck.conversion.stores import Store

if TYPE_CHECKING:
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Port
    from envcheck.conversion.graphs import Graph
    from envcheck.conversion.localisation import Culprit
    from envcheck.conversion.tracing import Comparison

__all__ = ["Precision", "find_precision"]

_LOOSE = 0.2
"""Relative error up to which a tensor may stand for a value of a quantised model."""
_STEPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "int8": 2.0**-7}
"""Unit roundoff by type; int8: half a step of a symmetric scale over 4 standard deviations."""
_LARGE = 64
_SHARE = 0.6
_INTEGER_OPS = frozenset(
    ("DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger",
     "QLinearConv", "QLinearMatMul", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Precision:
    """A type of lower precision that explains the errors of the weighted layers.

    `median` is the median local error of the weighted layers that have one, `affected` how many
    these are of the `weighted`; `culprits` are the layers whose error it does not explain.
    """

    dtype: str
    median: float
    matches: dict[Port, Match]
    local: dict[Port, float]
    affected: int = 0
    weighted: int = 0
    culprits: tuple[Culprit, ...] = ()


def suspected_type(graph: Graph) -> str:
    """Return the lower type that a graph computes in or keeps its weights in, or nothing."""
    import numpy as np
    import onnx

    if any(node.op_type in _INTEGER_OPS for node in graph.nodes):
        return "int8"
    kinds = {
        attribute.i
        for node in graph.nodes
        if node.op_type == "Cast"
        for attribute in node.attribute
        if attribute.name == "to"
    }
    kinds |= {item.data_type for item in graph.initialisers.values()}
    names = {onnx.TensorProto.FLOAT16: "float16", onnx.TensorProto.BFLOAT16: "bfloat16"}
    for kind, name in names.items():
        if kind in kinds:
            return name
    weights = [graph.initialiser(name) for name in graph.initialisers]
    large = [w for w in weights if w.dtype == np.float32 and w.size >= _LARGE]
    if not large:
        return ""
    for name, rounded in (("float16", _as_float16), ("bfloat16", _as_bfloat16)):
        same = sum(bool(np.array_equal(rounded(weight), weight)) for weight in large)
        if same >= max(2, _SHARE * len(large)):
            return name
    return ""


def _as_float16(weight: Array) -> Array:
    import numpy as np

    with np.errstate(over="ignore"):
        return weight.astype(np.float16).astype(np.float32)


def _as_bfloat16(weight: Array) -> Array:
    import numpy as np

    bits = np.ascontiguousarray(weight).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32)
    return rounded.view(np.float32)


def find_precision(comparison: Comparison) -> Precision | None:
    """Return the lower precision that explains what is open, or None."""
    graph = comparison.candidate.graph
    if graph is None or not comparison.candidate.parts or "open" not in comparison.kinds.values():
        return None
    dtype = suspected_type(graph)
    if not dtype:
        return None
    matches = _loosely(comparison, graph)
    coarse = _without_rounding(comparison, dtype, matches)
    culprits = localise_faults(coarse)
    comparison.runs = coarse.runs
    guilty = {call for culprit in culprits for call in culprit.calls}
    kept = {**matches, **coarse.matches}
    return _judge(comparison, dtype, kept, guilty, tuple(culprits))


def _without_rounding(comparison: Comparison, dtype: str, matches: dict[Port, Match]) -> Comparison:
    """Return a comparison in which no layer inherits an error, and rounding to a type is allowed.

    What is beyond that is not injected, so it shows in the layers behind it too.
    """
    store = Store()
    first = force(comparison, matches, store)
    store.close()
    low, high = _range(dtype)
    errors = _weighted(comparison, {p: e for p, (_, e) in first.items() if e is not None})
    rounded = [error for error in errors.values() if low <= error <= high]
    room = max(10 * statistics.median(rounded), high) if rounded else high
    kept = {p: matches[p] for p, (_, error) in first.items() if error is None or error <= room}
    values = Store()
    given = force(comparison, kept, values)
    coarse = replace(
        comparison,
        store=values,
        tolerance=lambda port: max(room, comparison.tolerance(port)),
        injections=[injection for injection, _ in given.values()],
        overlay={},
        healed=set(),
    )
    coarse.align()
    beyond = {port.call for port, (_, e) in first.items() if e is not None and e > room}
    coarse.suspects |= beyond
    coarse.refresh()
    return coarse


def _range(dtype: str) -> tuple[float, float]:
    """Return the relative errors that rounding the weights or inputs of a layer leads to."""
    step = _STEPS[dtype]
    return (0.02 if dtype == "int8" else 0.1) * step, (12 if dtype == "int8" else 3) * step


def _weighted(comparison: Comparison, local: dict[Port, float]) -> dict[Port, float]:
    return {port: error for port, error in local.items() if comparison.calls[port.call].weighted}


def _judge(
    comparison: Comparison,
    dtype: str,
    matches: dict[Port, Match],
    guilty: set[int],
    culprits: tuple[Culprit, ...],
) -> Precision | None:
    local = local_errors(comparison, matches)
    innocent = {port: error for port, error in local.items() if port.call not in guilty}
    weighted = _weighted(comparison, innocent)
    judged = weighted or innocent
    off = [error for port, error in judged.items() if error > comparison.tolerance(port)]
    if not off or (dtype != "int8" and len(off) < _SHARE * len(judged)):
        return None
    low, high = _range(dtype)
    median = statistics.median(off)
    if not low <= median <= high:
        return None
    return Precision(
        dtype=dtype, median=median, matches=matches, local=local,
        affected=len(off) if weighted else 0, weighted=len(weighted), culprits=culprits,
    )  # fmt: skip


def _loosely(comparison: Comparison, graph: Graph) -> dict[Port, Match]:
    """Return the matches, and for open values the tensor that resembles them most.

    A tensor goes to the value that it resembles most.
    """
    matches = dict(comparison.matches)
    taken = {match.tensor for match in matches.values()}
    options: list[tuple[float, Port, Match]] = []
    for call in comparison.recording.calls:
        for port in call.outputs:
            if port.call == call.id and port not in matches:
                options += [(m.error, port, m) for m in _resembling(comparison, graph, port, taken)]
    for _, port, match in sorted(options, key=lambda item: (item[0], item[1])):
        if port not in matches and match.tensor not in taken:
            matches[port] = match
            taken.add(match.tensor)
    return matches


def _resembling(comparison: Comparison, graph: Graph, port: Port, taken: set[str]) -> list[Match]:
    wanted = comparison.recording.value(port)
    if not is_number(wanted) or is_exact_kind(wanted):
        return []
    found = []
    for name in comparison.index.of_size(wanted.size):
        seen = comparison.value(name)
        if name in taken or is_exact_kind(seen) or name not in graph.maker:
            continue
        first = channels_first(graph, name) if wanted.ndim >= 3 else None
        layout = layout_between(wanted.shape, seen.shape, channels_first=first)
        if layout is None:
            continue
        error = relative_error(seen, layout.apply(wanted, seen.shape))
        if error <= _LOOSE:
            found.append(Match(tensor=name, layout=layout, error=error))
    return found
