"""The weights of a layer before its first step: spread, size, and units that are the same."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["describe_initial", "fans"]

_MOST = 2_000_000
"""Values of one kernel that are looked at; of larger ones the first rows."""
_KERNELS = ("kernel", "embeddings", "depthwise_kernel", "pointwise_kernel")


def describe_initial(layer: Any) -> dict[str, Any] | None:
    """Return what the kernel and the bias of a layer are like now, or None without a kernel."""
    kernel, bias = _kernel(layer), _named(layer, "bias")
    if kernel is None and bias is None:
        return None
    return {
        "kernel": None if kernel is None else _of_kernel(kernel, layer),
        "bias": None if bias is None else _of_bias(bias),
    }


def _kernel(layer: Any) -> Any:
    for name in _KERNELS:
        found = _named(layer, name)
        if found is not None:
            return found
    return None


def _named(layer: Any, name: str) -> Any:
    """Return a variable of a layer or of its recurrent cell by its name."""
    for variable in getattr(layer, "weights", ()):
        if str(variable.name) == name and len(variable.shape):
            return variable
    return None


def _of_kernel(variable: Any, layer: Any) -> dict[str, Any]:
    import numpy as np

    shape = tuple(int(size) for size in variable.shape)
    values = _sample(variable, shape)
    fan_in, fan_out = fans(shape, depthwise="epthwise" in type(layer).__name__)
    finite = values[np.isfinite(values)]
    empty = finite.size == 0
    return {
        "constant_columns": _same_units(values),
        "std": None if empty else float(finite.std()),
        "mean": None if empty else float(finite.mean()),
        "max_abs": None if empty else float(np.abs(finite).max()),
        "fan_in": fan_in,
        "fan_out": fan_out,
    }


def _sample(variable: Any, shape: tuple[int, ...]) -> Any:
    """Return the values of a variable as float64, of a very large one those of its first rows."""
    import numpy as np

    size = math.prod(shape)
    rows = shape[0] if size <= _MOST else max(1, _MOST * shape[0] // size)
    value = variable.value
    part = value if rows == shape[0] else value[:rows]
    return np.asarray(part.numpy(), dtype=np.float64)


def _same_units(values: Any) -> float | None:
    """Return the share of units whose incoming weights are those of another unit too.

    Units lie along the last axis. None where there is only one of them.
    """
    import numpy as np

    columns = values.reshape(-1, values.shape[-1]).T
    if columns.shape[0] < 2 or columns.shape[1] < 1:
        return None
    _, inverse, counts = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    return float((counts[np.ravel(inverse)] > 1).mean())


def _of_bias(variable: Any) -> dict[str, float | None]:
    import numpy as np

    values = np.asarray(variable.numpy(), dtype=np.float64)
    if values.size == 0:
        return {"min": None, "max": None}
    return {"min": float(values.min()), "max": float(values.max())}


def fans(shape: tuple[int, ...], *, depthwise: bool = False) -> tuple[int, int]:
    """Return how many values feed a unit, and how many units a value feeds.

    The last two axes of a kernel are inputs and units, those before them its window, as in
    Glorot and Bengio (2010) for convolutions. A depthwise kernel has one input per unit.
    """
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    window = math.prod(shape[:-2])
    inputs = 1 if depthwise else shape[-2]
    return window * inputs, window * shape[-1]
