"""What is known of a layer's activation function: its name, its bounds, where it clips."""

from __future__ import annotations

from typing import Any

__all__ = ["activation_name", "bounds", "channels_first", "clips_at", "is_rectifier"]

_RECTIFIERS = frozenset({"relu", "relu6"})
"""Activations that are exactly 0 for half of their input."""

_BOUNDS: dict[str, tuple[float, float]] = {
    "sigmoid": (0.0, 1.0), "hard_sigmoid": (0.0, 1.0), "sparse_sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0), "hard_tanh": (-1.0, 1.0), "softsign": (-1.0, 1.0),
}  # fmt: skip
"""Bounds of each value alone. Softmax is left out: most of many classes are near 0 by design."""

_CLIPS: dict[str, tuple[float, ...]] = {"relu": (0.0,), "relu6": (0.0, 6.0)}

_CLASSES = {"Softmax": "softmax", "Sigmoid": "sigmoid", "Tanh": "tanh"}
"""Layers and operations that are an activation and have no `activation` argument."""


_INNER = ("layer", "forward_layer", "cell")
"""What holds the layer inside TimeDistributed, Bidirectional and RNN."""


def activation_name(layer: Any) -> str | None:
    """Return the name of the function that a layer applies last, None where it has none."""
    kind = type(layer).__name__
    if kind in ("ReLU", "Relu"):
        return _rectifying_layer(layer)
    if kind in _CLASSES:
        return _CLASSES[kind]
    inner = next(filter(None, (getattr(layer, name, None) for name in _INNER)), None)
    function = getattr(layer, "activation", None)
    if function is None and inner is not None and inner is not layer:
        return activation_name(inner)
    if function is None:
        return None
    return str(getattr(function, "__name__", type(function).__name__)).lower()


def _rectifying_layer(layer: Any) -> str:
    if getattr(layer, "negative_slope", 0.0) or getattr(layer, "threshold", 0.0):
        return "leaky_relu"
    return "relu6" if getattr(layer, "max_value", None) == 6 else "relu"


def is_rectifier(name: str | None) -> bool:
    """Return whether a unit with this activation can be dead."""
    return name in _RECTIFIERS


def bounds(name: str | None) -> tuple[float, float] | None:
    """Return the least and greatest value of a bounded activation."""
    return _BOUNDS.get(name or "")


def clips_at(name: str | None) -> tuple[float, ...]:
    """Return the values at which an activation cuts its input off."""
    return _CLIPS.get(name or "", _BOUNDS.get(name or "", ()))


def channels_first(layer: Any) -> bool:
    """Return whether the channel axis of a layer's result is the one after the rows."""
    import keras

    own = getattr(layer, "data_format", None)
    return str(own or keras.config.image_data_format()) == "channels_first"
