"""The optimiser of a model with its hyper-parameters."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.recording.names import belongs_to

__all__ = ["describe_optimiser", "inner_optimiser"]

_NUMBERS = ("momentum", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "epsilon")


def inner_optimiser(model: Any) -> Any:
    """Return the optimiser that makes the steps, inside one that scales the loss."""
    optimiser = getattr(model, "optimizer", None)
    return getattr(optimiser, "inner_optimizer", None) or optimiser


def describe_optimiser(model: Any, sites: Any) -> dict[str, Any] | None:
    """Return class, learning rate, schedule and other settings, or None without an optimiser."""
    optimiser = inner_optimiser(model)
    if optimiser is None:
        return None
    rate = _number(getattr(optimiser, "learning_rate", None))
    schedule = _schedule(optimiser)
    numbers = {name: _number(getattr(optimiser, name, None)) for name in _NUMBERS}
    nesterov = getattr(optimiser, "nesterov", None)
    return {
        "class": type(optimiser).__name__,
        "learning_rate": rate,
        "learning_rate_default": _is_default(optimiser, rate, schedule, sites),
        "learning_rate_end": None,
        "schedule": schedule,
        **numbers,
        "nesterov": None if nesterov is None else bool(nesterov),
        "custom": belongs_to(type(optimiser)) == "user",
    }


def _schedule(optimiser: Any) -> str | None:
    import keras

    given = getattr(optimiser, "_learning_rate", None)
    if isinstance(given, keras.optimizers.schedules.LearningRateSchedule):
        return type(given).__name__
    return None


def _is_default(optimiser: Any, rate: float | None, schedule: str | None, sites: Any) -> bool:
    """Return whether nobody chose the learning rate: it is not written and has not been changed."""
    import inspect

    parameter = inspect.signature(type(optimiser).__init__).parameters.get("learning_rate")
    default = None if parameter is None else _number(parameter.default)
    if schedule is not None or rate is None or default is None:
        return False
    if abs(rate - default) > 1e-6 * abs(default):
        return False
    written = sites.argument(optimiser, "learning_rate") if sites is not None else None
    return bool(written is None or written["default"])


def _number(value: Any) -> float | None:
    """Return a number or a scalar variable as a float, else None; 0.003 in float32 as 0.003."""
    if value is None or isinstance(value, bool | str) or value is _empty():
        return None
    try:
        read = value.numpy() if hasattr(value, "numpy") else value
        return float(str(read)) if str(getattr(read, "dtype", "")) == "float32" else float(read)
    except (TypeError, ValueError, AttributeError):
        return None


def _empty() -> Any:
    import inspect

    return inspect.Parameter.empty
