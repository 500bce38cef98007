"""Facts about how layers follow each other: non-linearities that are missing or doubled.

Two linear maps in a row are one linear map. A pair counts only if everything between is known
to keep it linear and nothing else uses the signal; what is legitimate is said as an exemption,
for a rule to respect: a narrow layer makes a product of low rank on purpose, a 1×1 or depthwise
convolution is half of a factorised one, a transposed convolution resizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.layer_kinds import CONVOLUTIONS, activation_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_composition"]

_PROJECTING = frozenset(("relu", "sigmoid", "tanh", "softmax"))


def add_composition(graph: TrainingGraph, wiring: Wiring) -> None:
    """Assert which layers compose linearly, and what a whole model has of non-linearity."""
    hidden = []
    for path in wiring.parameterised():
        if kind_of(wiring.layers[path]) != "linear":
            continue
        route = wiring.after(path)
        if route.end in ("linear", "active"):
            hidden.append(path)
            node = wiring.node(path)
            source = f"{wiring.pointers[path]}/activation"
            graph.put(node, "composesWith", wiring.node(route.target), source)
            graph.put(node, "through", "ec:maximum" if route.maximum else "ec:direct", source)
            graph.put_value(node, "nextLayer", route.target, wiring.pointers[route.target])
            for reason in _exemptions(wiring, path, route.target):
                graph.put(node, "exempt", f"ec:{reason}", wiring.pointers[path])
    _add_non_linearity(graph, wiring, hidden)
    _add_repeats(graph, wiring)


def _exemptions(wiring: Wiring, path: str, target: str) -> Iterator[str]:
    layer, following = wiring.layers[path], wiring.layers[target]
    width, after = layer.get("units"), following.get("units")
    before = (layer.get("input_shape") or [None])[-1]
    sizes = (width, before, after)
    if all(isinstance(size, int) for size in sizes) and width < min(before, after):
        yield "narrow"
    if _is_projection(layer) or _is_projection(following):
        yield "projection"
    names = {str(layer.get("class")), str(following.get("class"))}
    if any(name.endswith("Transpose") for name in names):
        yield "resizing"
    if "EinsumDense" in names:
        yield "projection"
    if layer.get("pretrained") or layer.get("trainable") is False:
        yield "pretrained"
    if (layer.get("shared") or 1) > 1:
        yield "shared"


def _is_projection(layer: Mapping[str, Any]) -> bool:
    """Tell whether a convolution only mixes channels, works channel by channel, or is a line."""
    name, size = str(layer.get("class")), layer.get("kernel_size")
    if name not in CONVOLUTIONS:
        return False
    if name.startswith(("Depthwise", "Separable")):
        return True
    sizes = size if isinstance(size, list) else [size]
    return all(item == 1 for item in sizes) or (len(sizes) > 1 and len(set(sizes)) > 1)


def _add_non_linearity(graph: TrainingGraph, wiring: Wiring, hidden: list[str]) -> None:
    """Assert whether a model of two or more layers with weights has any non-linearity."""
    subject = f"model:{wiring.id}"
    layers = wiring.parameterised()
    source = f"{wiring.place}/layers"
    graph.put_value(subject, "linearLayers", len(layers), source)
    if not wiring.known:
        graph.put(subject, "nonLinearity", "ec:undetermined", source)
        return
    others = {kind_of(layer) for layer in wiring.layers.values()} - {"transparent", "activation"}
    if len(layers) == 1 and others <= {"linear", "active"} and _is_dense(wiring, layers[0]):
        graph.put(subject, "singleLayer", wiring.node(layers[0]), source)
    outputs = {wiring.behind(path) for path in wiring.outputs} | set(wiring.outputs)
    kinds = {kind_of(layer) for path, layer in wiring.layers.items() if path not in outputs}
    kinds |= {kind_of(wiring.layers[path]) for path in outputs if path in wiring.layers} - {
        "active", "activation",
    }  # fmt: skip
    if kinds - {"linear", "transparent", "maximum", "start"} or not hidden:
        graph.put(subject, "nonLinearity", "ec:present", source)
        return
    graph.put(subject, "nonLinearity", "ec:absent", source)
    graph.put(subject, "firstLinear", wiring.node(hidden[0]), source)


def _is_dense(wiring: Wiring, path: str) -> bool:
    return wiring.layers[path].get("class") == "Dense"


def _add_repeats(graph: TrainingGraph, wiring: Wiring) -> None:
    """Assert activations that are applied to a tensor to which one was applied before."""
    for path, layer in wiring.layers.items():
        kind, own = kind_of(layer), activation_of(layer)
        if kind not in ("active", "activation") or not wiring.known:
            continue
        route = wiring.after(path)
        node, source = wiring.node(path), f"{wiring.pointers[path]}/activation"
        if own == "softmax" and route.end in ("linear", "active") and not route.maximum:
            graph.put(node, "feeds", wiring.node(route.target), source)
        if route.end != "activation" or route.maximum:
            continue
        again = activation_of(wiring.layers[route.target])
        between = {str(wiring.layers[item].get("class")) for item in route.passed}
        if between - _PLAIN or own not in _PROJECTING or again not in _PROJECTING:
            continue
        second = wiring.pointers[route.target]
        if own == again == "relu":
            continue
        graph.put(wiring.node(route.target), "appliedAfter", node, source, second)
        graph.put_value(wiring.node(route.target), "firstActivation", own, source)


_PLAIN = frozenset(("Flatten", "Reshape", "Permute", "Identity", "InputLayer"))
"""Layers between two activations that change no value."""
