"""How a fit is set up: losses, optimiser, metrics, callbacks, epochs, batches, and their lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envcheck.localisation.recording.names import callable_name, loss_name, snake_case
from envcheck.localisation.recording.optimisers import describe_optimiser
from envcheck.localisation.recording.outputs import output_names
from envcheck.localisation.recording.setting_sites import describe_sites

__all__ = ["describe_losses", "describe_settings"]

_KERAS_BATCH = 32
"""The rows of a batch when arrays are given without a batch size."""


def describe_settings(model: Any, arguments: Mapping[str, Any], sites: Any) -> dict[str, Any]:
    """Return how a fit on a model is set up, as the training log has it.

    `arguments` are those that `fit` or `train_on_batch` was called with, defaults included. Call
    it while that call is on the stack: the line of the call is taken from there.
    """
    losses = describe_losses(model)
    optimiser = describe_optimiser(model, sites)
    return {
        **describe_sites(model, losses, optimiser, sites),
        "losses": losses,
        "optimiser": optimiser,
        "metrics": _metrics(model),
        "callbacks": _callbacks(arguments.get("callbacks")),
        "custom_train_step": _overrides(model, "train_step"),
        "custom_loss_method": _overrides(model, "compute_loss"),
        "run_eagerly": bool(model.run_eagerly),
        "jit_compile": bool(model.jit_compile),
        "mixed_precision": str(model.dtype_policy.name),
        **_schedule(arguments),
    }


def _schedule(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a fit that say how long and on what it runs."""
    split = arguments.get("validation_split") or None
    given = arguments.get("validation_data")
    validation = "data" if given is not None else "split" if split else "none"
    size = arguments.get("batch_size")
    if size is None and "epochs" in arguments and _is_arrays(arguments.get("x")):
        size = _KERAS_BATCH
    shuffle = arguments.get("shuffle")
    return {
        "epochs_asked": _whole(arguments.get("epochs")),
        "initial_epoch": _whole(arguments.get("initial_epoch")) or 0,
        "batch_size": _whole(size),
        "steps_per_epoch": _whole(arguments.get("steps_per_epoch")),
        "shuffle": None if shuffle is None else bool(shuffle),
        "class_weight": bool(arguments.get("class_weight")),
        "sample_weight": arguments.get("sample_weight") is not None,
        "validation": validation,
        "validation_split": float(split) if split and validation == "split" else None,
    }


def _whole(value: Any) -> int | None:
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        return None


def _is_arrays(value: Any) -> bool:
    """Return whether what is given is arrays or tensors, maybe nested, and no stream of batches."""
    if isinstance(value, Mapping):
        return all(map(_is_arrays, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_arrays, value)) if value else False
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _overrides(model: Any, method: str) -> bool:
    """Return whether the program's own class has a method in place of that of Keras."""
    for kind in type(model).__mro__:
        if method in vars(kind):
            return not str(kind.__module__).startswith("keras.")
    return method in vars(model)


def describe_losses(model: Any) -> list[dict[str, Any]]:
    """Return the compiled loss of each output, in the order of Keras."""
    compiled = getattr(model, "_compile_loss", None)
    if compiled is None:
        return []
    names = output_names(model)
    flat = getattr(compiled, "_flat_losses", None)
    if flat:
        return [_loss(item.loss, _output(item.path, names), item.loss_weights) for item in flat]
    return _as_given(compiled._user_loss, compiled._user_loss_weights, names)


def _output(path: Any, names: list[str]) -> str | None:
    """Return the name of the output that a path into the outputs leads to."""
    last = path[-1] if path else 0
    if isinstance(last, int):
        return names[last] if last < len(names) else None
    return str(last)


def _as_given(loss: Any, weights: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return the losses as `compile` got them, before Keras has paired them with outputs."""
    if isinstance(loss, Mapping):
        given = weights if isinstance(weights, Mapping) else {}
        return [_loss(value, str(name), given.get(name)) for name, value in loss.items()]
    several = list(loss) if isinstance(loss, list | tuple) else [loss] * max(1, len(names))
    if isinstance(weights, list | tuple):
        paired = list(weights)
    else:
        paired = [weights if isinstance(weights, int | float) else None] * len(several)
    return [
        _loss(value, _output((index,), names), paired[index] if index < len(paired) else None)
        for index, value in enumerate(several)
        if value is not None
    ]


def _loss(loss: Any, output: str | None, weight: Any) -> dict[str, Any]:
    name, custom = loss_name(loss)
    options = {**getattr(loss, "_fn_kwargs", {}), **getattr(loss, "keywords", {})}
    probabilistic = "crossentropy" in name and not custom
    return {
        "output": output,
        "name": name,
        "from_logits": _flag(loss, options, probabilistic),
        "label_smoothing": _smoothing(loss, options, probabilistic),
        "reduction": _reduction(loss),
        "weight": _number(weight),
        "custom": custom,
    }


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _flag(loss: Any, options: Mapping[str, Any], probabilistic: bool) -> bool | None:
    value = options.get("from_logits", getattr(loss, "from_logits", None))
    if value is None:
        return False if probabilistic else None
    return bool(value)


def _smoothing(loss: Any, options: Mapping[str, Any], probabilistic: bool) -> float | None:
    value = options.get("label_smoothing", getattr(loss, "label_smoothing", None))
    if value is None:
        return 0.0 if probabilistic else None
    return float(value)


def _reduction(loss: Any) -> str | None:
    if isinstance(loss, str) or not hasattr(loss, "reduction"):
        return "sum_over_batch_size"
    return None if loss.reduction is None else str(loss.reduction)


def _metrics(model: Any) -> list[str]:
    compiled = getattr(model, "_compile_metrics", None)
    found = []
    for given in (
        getattr(compiled, "_user_metrics", None),
        getattr(compiled, "_user_weighted_metrics", None),
    ):
        found += [_metric(item) for item in _leaves(given)]
    return found


def _metric(metric: Any) -> str:
    if isinstance(metric, str):
        return metric
    return (
        callable_name(metric) if hasattr(metric, "__name__") else snake_case(type(metric).__name__)
    )


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [] if value is None else [value]


def _callbacks(given: Any) -> list[str]:
    inside = getattr(given, "callbacks", None)
    listed = inside if isinstance(inside, list) else _leaves(given)
    return [type(item).__name__ for item in listed]
