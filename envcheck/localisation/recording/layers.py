"""One layer of a Keras model: what it computes, how it starts, and where it is written."""

from __future__ import annotations

import inspect
from typing import Any

from envcheck.localisation.recording.initial import describe_initial
from envcheck.localisation.recording.names import activation_name, belongs_to, snake_case
from envcheck.localisation.recording.parts import (
    constraint_of,
    initialiser_of,
    plain,
    regulariser_of,
    shape_of,
)
from envcheck.localisation.recording.probe_paths import Part, weight_names

__all__ = ["describe_layer", "own_activation"]

_UNITS = ("units", "filters", "output_dim")
_ACTIVATION_LAYERS = frozenset({
    "ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax", "ThresholdedReLU",
})  # fmt: skip
_OPERATIONS = frozenset({
    "relu", "relu6", "sigmoid", "tanh", "softmax", "log_softmax", "elu", "selu", "gelu", "silu",
    "softplus", "softsign", "leaky_relu", "exp", "exponential", "hard_sigmoid", "hard_tanh",
    "log_sigmoid", "mish", "celu", "glu", "hard_silu", "sparse_plus", "squareplus",
})  # fmt: skip
_COPIED = (
    "use_bias", "rate", "kernel_size", "strides", "padding", "pool_size", "axis", "data_format",
    "return_sequences",
)  # fmt: skip
_IF_THERE = ("mask_zero", "negative_slope", "epsilon", "momentum", "scale", "offset", "alpha")
_INITIALISERS = ("kernel", "bias", "recurrent", "embeddings", "depthwise", "pointwise", "gamma")
_NOT_WRITTEN = frozenset({"name", "dtype", "seed"})
_DEFAULTS = frozenset({
    "activation", "kernel_initializer", "bias_initializer", "recurrent_initializer", "use_bias",
    "kernel_regularizer", "embeddings_initializer",
})  # fmt: skip
"""Arguments that are listed even where they are not written: then the line is that of the call."""


def describe_layer(part: Part, index: int, sites: Any) -> dict[str, Any]:
    """Return one layer as the training log has it, its connections apart."""
    layer = part.layer
    inner = _inner(layer)
    weights = list(part.variables)
    return {
        "path": part.path,
        "name": str(getattr(layer, "name", part.path)),
        "class": type(layer).__name__,
        "module": belongs_to(type(layer)),
        "index": index,
        **_shapes(layer),
        "units": _units(inner),
        "activation": own_activation(inner),
        **_initialisers(inner),
        **_penalties(inner),
        **{name: plain(getattr(inner, name, None)) for name in _COPIED},
        **{name: plain(getattr(inner, name)) for name in _IF_THERE if hasattr(inner, name)},
        "trainable": bool(getattr(layer, "trainable", False)),
        "parameters": sum(_size(variable) for variable in weights),
        "trainable_parameters": sum(_size(item) for item in weights if item.trainable),
        "weights": [
            {"name": name, "shape": shape_of(variable.shape), "trainable": bool(variable.trainable)}
            for name, variable in zip(weight_names(part.variables), weights, strict=True)
        ],
        "initial": describe_initial(inner),
        **_written(layer, inner, sites),
    }


def _inner(layer: Any) -> Any:
    """Return what does the work inside a wrapper such as Bidirectional or TimeDistributed."""
    import keras

    if isinstance(layer, keras.layers.Bidirectional):
        return layer.forward_layer
    if isinstance(layer, keras.layers.Wrapper):
        return layer.layer
    return layer


def own_activation(layer: Any) -> str | None:
    """Return the activation that a layer applies to its result, or None if its kind has none."""
    name = type(layer).__name__
    if name in _ACTIVATION_LAYERS and belongs_to(type(layer)) == "keras":
        return _of_activation_layer(layer, name)
    if not _is_layer(layer):
        plain_name = snake_case(name)
        return activation_name(plain_name) if plain_name in _OPERATIONS else None
    activation = getattr(layer, "activation", None)
    if activation is None:
        return "linear" if hasattr(layer, "activation") else None
    return activation_name(activation)


def _of_activation_layer(layer: Any, name: str) -> str:
    if name == "ReLU" and getattr(layer, "negative_slope", None):
        return "leaky_relu"
    return activation_name(snake_case(name))


def _is_layer(layer: Any) -> bool:
    import keras

    return isinstance(layer, keras.layers.Layer)


def _units(layer: Any) -> int | None:
    for name in _UNITS:
        value = getattr(layer, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _shapes(layer: Any) -> dict[str, Any]:
    """Return the shapes of the layer's first call that Keras knows."""
    nodes = getattr(layer, "_inbound_nodes", ())
    if nodes:
        taken = [tensor.shape for tensor in nodes[0].input_tensors] or [
            tensor.shape for tensor in nodes[0].outputs
        ]
        given = [tensor.shape for tensor in nodes[0].outputs]
    else:
        built = getattr(layer, "_build_shapes_dict", None) or {}
        taken, given = list(built.values())[:1], []
    return {"input_shape": shape_of(taken), "output_shape": shape_of(given)}


def _initialisers(layer: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _INITIALISERS:
        kept = getattr(layer, f"{name}_initializer", None)
        if kept is not None or name in ("kernel", "bias"):
            found[f"{name}_initialiser"] = initialiser_of(kept)
    recurrent = getattr(layer, "recurrent_activation", None)
    if recurrent is not None:
        found["recurrent_activation"] = activation_name(recurrent)
    return found


def _penalties(layer: Any) -> dict[str, Any]:
    kinds = ("kernel", "bias", "activity")
    penalties = {
        f"{kind}_regulariser": regulariser_of(getattr(layer, f"{kind}_regularizer", None))
        for kind in kinds
    }
    constraint = constraint_of(getattr(layer, "kernel_constraint", None))
    return {**penalties, "kernel_constraint": constraint}


def _size(variable: Any) -> int:
    size = 1
    for length in variable.shape:
        size *= int(length or 0)
    return size


def _written(layer: Any, inner: Any, sites: Any) -> dict[str, Any]:
    """Return where a layer and each of its arguments are written."""
    if sites is None:
        return {"site": None, "chain": [], "arguments": {}}
    found = {
        name: sites.argument(layer, name, positional, _value(layer, name))
        for name, positional in _parameters(layer)
    }
    for name, positional in _parameters(inner) if inner is not layer else ():
        value = _value(inner, name)
        found[name] = sites.argument(layer, name, positional, value, through="layer")
    arguments = {
        name: site
        for name, site in found.items()
        if site is not None and (name in _DEFAULTS or not site["default"])
    }
    return {
        "site": sites.site(layer), "chain": sites.logged_chain(layer), "arguments": arguments,
    }  # fmt: skip


def _parameters(layer: Any) -> list[tuple[str, list[str]]]:
    """Return the parameters of a layer's class, each with the ones that go by position."""
    signature = inspect.signature(type(layer).__init__)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(signature.parameters.values())[1:]
    positional = [item.name for item in parameters if item.kind in kinds]
    names = [
        item.name for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
    ]
    return [(name, positional) for name in names if name not in _NOT_WRITTEN]


def _value(layer: Any, name: str) -> Any:
    """Return what was passed for an argument, as far as the layer keeps it in a form of text."""
    from envcheck.localisation.source_lines import UNKNOWN

    value = getattr(layer, name, None)
    if name == "activation" and value is not None:
        return activation_name(value)
    if isinstance(value, tuple) and value and len(set(value)) == 1:
        return UNKNOWN
    return UNKNOWN if value is None or callable(value) else value
