"""A Keras model as the training log has it: its layers, how they are connected, its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envcheck.localisation.recording.layers import describe_layer
from envcheck.localisation.recording.outputs import effective_activation, output_names
from envcheck.localisation.recording.parts import shape_of
from envcheck.localisation.recording.probe_paths import is_container, model_parts
from envcheck.localisation.recording.wiring import Wiring, wiring_of

__all__ = ["describe_model"]


def describe_model(model: Any, sites: Any, identifier: str) -> dict[str, Any]:
    """Return a model with its layers as they are now; call it before the first step.

    Nothing of the model is run, built or changed.
    """
    parts = [part for part in model_parts(model) if part.path]
    wiring = wiring_of(model, parts)
    listed = [part for part in parts if part.reported]
    layers = [describe_layer(part, index, sites) for index, part in enumerate(listed)]
    downstream = wiring.downstream()
    for part, described in zip(listed, layers, strict=True):
        described["pretrained"] = _is_pretrained(part.layer, sites, identifier)
        if sites is not None and not sites.is_before_first_step(part.layer, identifier):
            described["initial"] = None
        _connect(described, wiring, downstream)
    _follow_activations(layers)
    outputs = _outputs(model, wiring, {layer["path"]: layer for layer in layers})
    return {
        "id": identifier,
        "name": str(model.name),
        "class": type(model).__name__,
        "kind": _kind(model),
        "parameters": _count(model.weights),
        "trainable_parameters": _count(model.trainable_weights),
        "site": None if sites is None else sites.site(model),
        "inputs": _inputs(model),
        "outputs": outputs,
        "graph_known": wiring.known,
        "layers": layers,
    }


def _is_pretrained(layer: Any, sites: Any, model: str) -> bool:
    """Return whether a layer's weights were loaded, set, or trained as part of another model."""
    if sites is None or not getattr(layer, "weights", None):
        return False
    trained = sites.was_trained_before(layer, model)
    return bool(trained or sites.is_loaded(layer))


def _kind(model: Any) -> str:
    import keras

    if isinstance(model, keras.Sequential):
        return "sequential"
    return "functional" if is_container(model) else "subclassed"


def _count(variables: Any) -> int:
    total = 0
    for variable in variables:
        if str(variable.name) != "seed_generator_state":
            size = 1
            for length in variable.shape:
                size *= int(length or 0)
            total += size
    return total


def _inputs(model: Any) -> list[dict[str, Any]]:
    return [
        {"name": str(tensor.name), "shape": shape_of(tensor.shape), "dtype": str(tensor.dtype)}
        for tensor in getattr(model, "inputs", None) or ()
    ]


def _connect(layer: dict[str, Any], wiring: Wiring, downstream: dict[str, list[str]]) -> None:
    path = layer["path"]
    layer["shared"] = wiring.calls.get(path, 1)
    layer["inputs"] = wiring.inputs.get(path, []) if wiring.known else None
    layer["outputs"] = downstream.get(path, []) if wiring.known else None


def _follow_activations(layers: list[dict[str, Any]]) -> None:
    """Give a layer without an activation the line of the one that a later layer applies to it."""
    by_path = {layer["path"]: layer for layer in layers}
    for layer in layers:
        written = layer["arguments"].get("activation")
        if layer["activation"] != "linear" or (written is not None and not written["default"]):
            continue
        following = list(layer["outputs"] or [])
        only = by_path.get(following[0]) if len(following) == 1 else None
        if only is not None and only["activation"] is not None and not only["parameters"]:
            found = only["arguments"].get("activation") or only["site"]
            if found is not None:
                layer["arguments"]["activation"] = found


def _outputs(
    model: Any, wiring: Wiring, layers: Mapping[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    tensors = list(getattr(model, "outputs", None) or ())
    names = output_names(model)
    found = []
    for index in range(max(len(tensors), len(names), len(wiring.outputs))):
        sources = wiring.outputs[index] if index < len(wiring.outputs) else []
        path = sources[0] if len(sources) == 1 else None
        found.append({
            "name": names[index] if index < len(names) else None,
            "layer": path,
            "shape": shape_of(tensors[index].shape) if index < len(tensors) else None,
            "activation": effective_activation(path, layers),
        })  # fmt: skip
    return found
