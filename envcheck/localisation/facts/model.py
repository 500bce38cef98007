"""Facts about what models are made of: layers, activations, initial weights, widths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.composition import add_composition
from envcheck.localisation.facts.initial import add_initial
from envcheck.localisation.facts.layer_kinds import activation_of, kind_of, regularises
from envcheck.localisation.facts.order import add_order
from envcheck.localisation.facts.published import add_published
from envcheck.localisation.facts.questions import ask
from envcheck.localisation.facts.wiring import wirings
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["add"]

_STRONG = 0.1
_HEAVY_RATE, _RATE = 0.6, 0.5


def add(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert the facts of every model that was trained."""
    del signals
    for identifier, wiring in wirings(graph.log).items():
        subject = f"model:{identifier}"
        _add_model(graph, subject, wiring)
        for path in wiring.layers:
            _add_layer(graph, wiring, path)
            add_initial(graph, wiring, path)
        add_composition(graph, wiring)
        add_order(graph, wiring)
        _add_regularisation(graph, subject, wiring)


def _add_model(graph: TrainingGraph, subject: str, wiring: Wiring) -> None:
    model = wiring.model
    graph.put_value(subject, "modelName", str(model.get("name")), f"{wiring.place}/name")
    for key, word in (("parameters", "parameters"), ("trainable_parameters", "trainable")):
        if isinstance(model.get(key), int):
            graph.put_value(subject, word, model[key], f"{wiring.place}/{key}")
    fits = [
        (index, fit) for index, fit in enumerate(graph.log.fits) if fit.get("model") == wiring.id
    ]
    for index, fit in fits:
        graph.put(f"fit:{fit['id']}", "ofModel", subject, f"fits/{index}/model")
    if fits:
        index, fit = fits[-1]
        graph.put(subject, "lastFit", f"fit:{fit['id']}", f"fits/{index}/model")
    if any(layer.get("pretrained") for layer in wiring.layers.values()):
        graph.put(subject, "weights", "ec:pretrained", f"{wiring.place}/layers")
    if not wiring.known:
        why = "the wiring of this model is inside its call method"
        ask(graph, subject, "wiring", why, f"{wiring.place}/graph_known")


def _add_layer(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    layer, subject, source = wiring.layers[path], wiring.node(path), wiring.pointers[path]
    graph.put(subject, "inModel", f"model:{wiring.id}", source)
    graph.put_value(subject, "path", path, f"{source}/path")
    graph.put(subject, "layerClass", f"class:{layer.get('class')}", f"{source}/class")
    graph.put(subject, "position", _position(wiring, path), source)
    activation = activation_of(layer)
    if activation is not None:
        graph.put(subject, "activation", f"activation:{activation}", f"{source}/activation")
    add_published(graph, wiring, path)
    units = layer.get("units")
    if isinstance(units, int):
        graph.put_value(subject, "units", units, f"{source}/units")
    if layer.get("pretrained"):
        graph.put(subject, "weights", "ec:pretrained", f"{source}/pretrained")
    if layer.get("trainable") is False:
        graph.put(subject, "weights", "ec:frozen", f"{source}/trainable")
    shape = layer.get("output_shape")
    if activation == "softmax" and isinstance(shape, list) and len(shape) > 1:
        axis = layer.get("axis")
        if shape[-1] == 1 and axis in (None, -1, len(shape) - 1):
            graph.put_value(subject, "softmaxOverOne", True, f"{source}/output_shape")


def _position(wiring: Wiring, path: str) -> str:
    """Return whether a layer makes an output, stands before one, or is not placed."""
    if not wiring.known or wiring.is_inside(path):
        return "ec:undetermined"
    outputs = wiring.outputs
    if path in outputs or any(wiring.behind(output) == path for output in outputs):
        return "ec:output"
    return "ec:output" if wiring.after(path).end in ("nothing", "branches") else "ec:hidden"


def _add_regularisation(graph: TrainingGraph, subject: str, wiring: Wiring) -> None:
    """Assert the dropout rates and weight penalties of a model, and its normalisation."""
    rates = {
        path: rate for path in wiring.layers if (rate := _rate(wiring.layers[path])) is not None
    }
    heavy = sum(rate > _RATE for rate in rates.values())
    for path, rate in rates.items():
        node, source = wiring.node(path), f"{wiring.pointers[path]}/rate"
        graph.put_value(node, "rate", rate, source)
        if rate > _HEAVY_RATE or (heavy > 1 and rate > _RATE):
            graph.put_value(node, "heavyDropout", True, source)
    for path, layer in wiring.layers.items():
        if regularises(layer):
            graph.put_value(subject, "regularised", True, wiring.pointers[path])
        _add_penalty(graph, wiring, path)
    if any("Normalization" in str(layer.get("class")) for layer in wiring.layers.values()):
        graph.put_value(subject, "normalises", True, f"{wiring.place}/layers")
    _add_sigmoids(graph, subject, wiring)


def _rate(layer: Mapping[str, Any]) -> float | None:
    return number(layer.get("rate")) if "Dropout" in str(layer.get("class")) else None


def _add_penalty(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    for key in ("kernel_regulariser", "activity_regulariser"):
        penalty = wiring.layers[path].get(key)
        if isinstance(penalty, dict):
            size = max(number(penalty.get(name)) or 0.0 for name in ("l1", "l2"))
            if size >= _STRONG:
                source = f"{wiring.pointers[path]}/{key}"
                graph.put_value(wiring.node(path), "penalty", size, source)


def _add_sigmoids(graph: TrainingGraph, subject: str, wiring: Wiring) -> None:
    sigmoids = [path for path in wiring.layers if _is_hidden_sigmoid(wiring, path)]
    if sigmoids:
        sources = [f"{wiring.pointers[path]}/activation" for path in sigmoids]
        graph.put_value(subject, "sigmoidLayers", len(sigmoids), *sources)
        graph.put(subject, "firstSigmoid", wiring.node(sigmoids[0]), *sources)


def _is_hidden_sigmoid(wiring: Wiring, path: str) -> bool:
    layer = wiring.layers[path]
    if not wiring.known or activation_of(layer) != "sigmoid":
        return False
    if kind_of(layer) not in ("active", "activation"):
        return False
    return wiring.after(path).end in ("linear", "active")
