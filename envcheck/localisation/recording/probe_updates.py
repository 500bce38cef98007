"""How far one optimiser step moved each weight, and whether a weight is still finite."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Updates", "all_finite"]

_SAMPLE = 65_536
"""Elements compared per variable, at even distances."""


def all_finite(variable: Any) -> bool:
    """Return whether a variable holds finite numbers only; what is no number does."""
    import numpy as np
    import tensorflow as tf

    held: Any = getattr(variable, "_value", None)
    if type(held).__name__ == "ResourceVariable":  # read without the detours of Keras
        tensor = tf.raw_ops.ReadVariableOp(resource=held.handle, dtype=held.dtype)
    else:
        tensor = tf.convert_to_tensor(variable.value)
    if not tensor.dtype.is_floating:
        return True
    if "CPU" not in tensor.device:
        return bool(tf.reduce_all(tf.math.is_finite(tensor)))
    values = tensor.numpy()
    with np.errstate(all="ignore"):
        total = values.sum()
        return math.isfinite(total) or bool(np.isfinite(values).all())


class Updates:
    """Samples of variables, and the mean relative change since they were taken."""

    def __init__(self, variables: list[Any]) -> None:
        self._variables = variables
        self._before: list[Any] = []

    def take(self) -> None:
        """Keep a sample of every variable."""
        self._before = [_sample(variable) for variable in self._variables]

    def drop(self) -> None:
        """Forget the samples."""
        self._before = []

    def ratios(self) -> list[float | None]:
        """Return mean|Δw| / mean|w| per variable since `take`, None where it is not known.

        It is 0.0 only where no element of the whole variable can have moved: a sample of part
        of a variable in which nothing moved is None, as is a change from all zeros.
        """
        before, self._before = self._before, []
        return [
            _ratio(old, _sample(variable), math.prod(variable.shape))
            for variable, old in zip(self._variables, before, strict=False)
        ]


def _sample(variable: Any) -> Any:
    import numpy as np
    import tensorflow as tf

    stride = max(1, -(-math.prod(variable.shape) // _SAMPLE))
    flat = tf.reshape(variable.value, [-1])
    return np.array(flat[::stride].numpy(), dtype=np.float32, copy=True)


def _ratio(old: Any, new: Any, size: int) -> float | None:
    import numpy as np

    if old.size == 0:
        return None
    if np.array_equal(old, new):
        return 0.0 if old.size == size else None
    with np.errstate(all="ignore"):
        moved, level = float(np.mean(np.abs(new - old))), float(np.mean(np.abs(old)))
    if level == 0.0 or not math.isfinite(moved) or not math.isfinite(level):
        return None
    return moved / level
