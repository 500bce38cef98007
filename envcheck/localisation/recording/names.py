"""Canonical names of losses, metrics and activations, whatever way a program spells them."""

from __future__ import annotations

import functools
import re
from typing import Any

__all__ = ["activation_name", "belongs_to", "callable_name", "loss_name", "snake_case"]

_LOSSES = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error",
    "bce": "binary_crossentropy", "kld": "kl_divergence", "kldivergence": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh", "ce": "crossentropy",
}  # fmt: skip
_ACTIVATIONS = {
    "swish": "silu", "hard_swish": "hard_silu", "re_lu": "relu", "p_re_lu": "prelu",
    "leaky_re_lu": "leaky_relu", "log_softmax": "log_softmax", "relu_6": "relu6",
}  # fmt: skip
_FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras"})


def snake_case(name: str) -> str:
    """Return a class name as Keras spells it in text: kl_divergence for `KLDivergence`."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def belongs_to(thing: Any) -> str:
    """Return whether a class or function is of keras, of the user's program or other."""
    module = str(getattr(thing, "__module__", "") or "").split(".", 1)[0]
    if module in ("keras", "tf_keras"):
        return "keras"
    return "other" if module in _OTHERS else "user"


_OTHERS = frozenset({
    "tensorflow", "keras_hub", "keras_nlp", "keras_cv", "tensorflow_addons", "tensorflow_hub",
    "tensorflow_probability", "tf_models", "official", "transformers",
})  # fmt: skip


def callable_name(thing: Any) -> str:
    """Return the name of a function, class instance or partial application of either."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    name = getattr(thing, "__name__", None)
    return str(name) if name else type(thing).__name__


def loss_name(loss: Any) -> tuple[str, bool]:
    """Return the canonical name of a loss, and whether the program made it itself.

    `loss` is text, a function, a class, or an instance of one.
    """
    if isinstance(loss, str):
        plain = snake_case(loss) if loss != loss.lower() else loss.lower()
        return _LOSSES.get(loss.lower(), _LOSSES.get(plain, plain)), False
    while isinstance(loss, functools.partial):
        loss = loss.func
    wrapped = getattr(loss, "fn", None)
    if callable(wrapped) and belongs_to(type(loss)) == "keras":
        return loss_name(wrapped)
    kind = loss if callable_name(loss) == getattr(loss, "__name__", None) else type(loss)
    name = callable_name(kind)
    if belongs_to(kind) != "keras":
        return f"custom:{name}", True
    plain = snake_case(name)
    return _LOSSES.get(plain, plain), False


def activation_name(activation: Any) -> str:
    """Return the canonical name of an activation: relu, linear, softmax or `custom:NAME`."""
    if activation is None:
        return "linear"
    while isinstance(activation, functools.partial):
        activation = activation.func
    if isinstance(activation, str):
        return _ACTIVATIONS.get(activation, activation)
    has_name = hasattr(activation, "__name__")
    kind = activation if has_name else type(activation)
    if str(getattr(kind, "__module__", "")).split(".", 1)[0] not in _FRAMEWORKS:
        return f"custom:{callable_name(activation)}"
    plain = snake_case(callable_name(activation))
    return _ACTIVATIONS.get(plain, plain)
