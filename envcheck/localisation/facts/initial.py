"""Facts about the weights before the first step: equal columns, wrong spread, large biases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.layer_kinds import LINEAR
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_initial"]

_CONSTANT = frozenset(("Zeros", "Ones", "Constant"))
_ALL = 0.99
_FAR = 10.0
"""Factor between a spread and that of He (2/fan-in) or of Glorot (2/(fan-in + fan-out)) from
which on signals explode or vanish within a few layers."""


def add_initial(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    """Assert what is remarkable about the initial weights of a layer."""
    layer, node, source = wiring.layers[path], wiring.node(path), wiring.pointers[path]
    if layer.get("module") != "keras" or layer.get("class") not in LINEAR:
        return
    initial = layer.get("initial") or {}
    kernel = initial.get("kernel") or {}
    told = layer.get("kernel_initialiser") or {}
    _add_constant(graph, node, layer, kernel, told, source)
    _add_spread(graph, node, kernel, f"{source}/initial/kernel")
    bias = initial.get("bias") or {}
    low, high = number(bias.get("min")), number(bias.get("max"))
    if low is not None and high is not None and max(abs(low), abs(high)) > 1:
        largest = low if abs(low) > abs(high) else high
        graph.put_value(node, "initialBias", largest, f"{source}/initial/bias")
    if wiring.known and _ends_a_branch(wiring, path):
        graph.put(node, "exempt", "ec:branchEnd", source)


def _add_constant(
    graph: TrainingGraph,
    node: str,
    layer: Mapping[str, Any],
    kernel: Mapping[str, Any],
    told: Mapping[str, Any],
    source: str,
) -> None:
    """Assert that all units of a layer start alike, as measured, or else as written."""
    units = layer.get("units")
    if not isinstance(units, int) or units < 2 or not layer.get("trainable", True):
        return
    share = number(kernel.get("constant_columns"))
    name = str(told.get("class"))
    if share is None:
        if name in _CONSTANT and kernel == {} and not layer.get("pretrained"):
            graph.put_value(node, "startsConstant", name, f"{source}/kernel_initialiser")
    elif share >= _ALL and (number(kernel.get("std")) or 0.0) < 1e-12:
        label = name if name in _CONSTANT else "constant weights"
        graph.put_value(node, "startsConstant", label, f"{source}/initial/kernel")


def _add_spread(graph: TrainingGraph, node: str, kernel: Mapping[str, Any], source: str) -> None:
    spread, inputs, outputs = (number(kernel.get(key)) for key in ("std", "fan_in", "fan_out"))
    if not spread or not inputs:
        return
    upper = math.sqrt(2 / inputs)
    lower = math.sqrt(2 / (inputs + (outputs or inputs)))
    expected = math.sqrt(1 / inputs)
    if spread > _FAR * upper or spread < lower / _FAR:
        word = "ec:tooWide" if spread > upper else "ec:tooNarrow"
        graph.put(node, "startsSpread", word, source)
        graph.put_value(node, "initialSpread", float(f"{spread:.3g}"), source)
        graph.put_value(node, "fittingSpread", float(f"{expected:.3g}"), source)


def _ends_a_branch(wiring: Wiring, path: str) -> bool:
    """Tell whether a layer is the last of a branch that is added to something."""
    return wiring.after(path).end in ("merge", "branches", "other", "opaque", "unknown")
