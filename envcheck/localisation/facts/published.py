"""Plain facts about single layers that FL4Deep's own rules read: neighbours and initialisers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_published"]


def add_published(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    """Assert what comes right before a layer, the rank of its input, how its weights start."""
    layer, node, source = wiring.layers[path], wiring.node(path), wiring.pointers[path]
    for previous in layer.get("inputs") or ():
        if previous in wiring.layers:
            graph.put(node, "follows", wiring.node(str(previous)), f"{source}/inputs")
    shape = layer.get("input_shape")
    if isinstance(shape, list):
        graph.put_value(node, "inputRank", len(shape), f"{source}/input_shape")
    for key, word in (("kernel_initialiser", "kernelInit"), ("bias_initialiser", "biasInit")):
        told = layer.get(key)
        if isinstance(told, dict) and told.get("class"):
            graph.put_value(node, word, str(told["class"]), f"{source}/{key}")
    if layer.get("use_bias") is True:
        graph.put_value(node, "hasBias", True, f"{source}/use_bias")
