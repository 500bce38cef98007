"""Small statistics of large tensors, computed where the tensors are.

Every function takes and returns TensorFlow tensors. Non-finite values are counted first and then
left out of everything else, so one NaN does not hide what the other values are. A statistic over
no values is NaN and is written as null.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

__all__ = ["ACTIVATION", "OUTPUT", "WEIGHT", "activation", "named", "output", "weight"]

ACTIVATION = (
    "nonfinite_share", "nan_share", "mean", "std", "min", "max", "p95_abs", "zero_share",
    "saturated_share", "dead_share", "constant_share",
)  # fmt: skip
"""What `activation` returns, in order."""

WEIGHT = (
    "nonfinite_share", "nan_share", "mean_abs", "std", "max_abs", "norm", "zero_share",
    "small_share",
)  # fmt: skip
"""What `weight` returns, in order; for weights and for gradients."""

OUTPUT = ("row_sum_deviation", "min", "max", "constant", "argmax_classes", "clipped_share")
"""What `output` returns, in order."""

_SAMPLE = 16_384
"""Values from which the 95th percentile is taken, at even distances."""

_SMALL = 1e-5
"""A weight below this counts as none (TheDeepChecker, TOSEM 2022, on-train weight check)."""

_SATURATED = 0.02
"""Share of the range of a bounded activation that counts as its bound."""

_CONSTANT = 1e-6
"""Standard deviation, relative to the mean, below which a unit counts as constant."""


def named(names: tuple[str, ...], values: Any) -> dict[str, float | None]:
    """Return statistics by name; NaN, which means "of no values", becomes None."""
    numbers = [float(value) for value in values]
    return {
        name: None if math.isnan(number) else number
        for name, number in zip(names, numbers, strict=True)
    }


def activation(value: Any, *, channels_first: bool, bounds: tuple[float, float] | None) -> Any:
    """Return the statistics of a layer's result (rows, …, channels) as a float32 vector.

    A unit is a channel; it is dead when it is 0, and constant when it does not vary, over all
    rows and positions.
    """
    import tensorflow as tf

    if channels_first and value.shape.rank is not None and value.shape.rank > 2:
        value = tf.experimental.numpy.moveaxis(value, 1, -1)
    width = value.shape[-1] if value.shape.rank and value.shape.rank > 1 else 1
    table = tf.reshape(value, [-1, 1 if width is None else width])
    low, high = bounds if bounds is not None else (math.nan, math.nan)
    kernel = _compiled(_activation_of)
    return kernel(_real(table), tf.constant(low, tf.float32), tf.constant(high, tf.float32))


def weight(value: Any) -> Any:
    """Return the statistics of a weight or gradient of any shape as a float32 vector."""
    import tensorflow as tf

    return _compiled(_weight_of)(tf.reshape(_real(value), [-1]))


def output(value: Any, edges: tuple[float, ...]) -> Any:
    """Return the statistics of a model's output (rows, …) as a float32 vector.

    `edges` are the values at which its activation clips; none gives no clipped share.
    """
    import tensorflow as tf

    value = _real(value)
    rank = value.shape.rank or 1
    width = value.shape[-1] if rank > 1 else 1
    rows = tf.reshape(value, [tf.shape(value)[0], -1])
    last = tf.reshape(value, [-1, width if width is not None else 1])
    clipped = [tf.reduce_mean(_number(tf.abs(value - edge) < 1e-7)) for edge in edges]
    nothing = tf.constant(math.nan, tf.float32)
    several = width is not None and width > 1
    return _floats(
        [
            tf.reduce_max(tf.abs(tf.reduce_sum(last, axis=1) - 1.0)) if several else nothing,
            tf.reduce_min(value),
            tf.reduce_max(value),
            tf.reduce_all(_spread(rows) <= _CONSTANT * (tf.abs(rows[0]) + 1e-12)),
            tf.size(tf.unique(tf.argmax(rows, axis=1))[0]) if several and rank == 2 else nothing,
            tf.add_n(clipped) if clipped else nothing,
        ]
    )


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    """Return a traced function shared by all tensors, so that each adds one call to a graph."""
    import tensorflow as tf

    shapes = {
        _activation_of: [[None, None], [], []],
        _weight_of: [[None]],
    }[function]
    signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
    return tf.function(function, input_signature=signature, autograph=False)


def _activation_of(table: Any, low: Any, high: Any) -> Any:
    import tensorflow as tf

    finite = tf.math.is_finite(table)
    clean = tf.where(finite, table, 0.0)
    count = tf.reduce_sum(_number(finite))
    mean, deviation = _moments(clean, finite)
    nowhere = tf.where(finite, table, -math.inf)
    edge = _SATURATED * (high - low)
    saturated = _number((clean <= low + edge) | (clean >= high - edge)) * _number(finite)
    zero = _number(finite & tf.equal(clean, 0.0))
    dead = tf.reduce_all(tf.equal(table, 0.0), axis=0)
    steady = _spread(clean) <= _CONSTANT * (tf.abs(clean[0]) + 1e-12)
    return _floats(
        [
            tf.reduce_mean(_number(~finite)),
            tf.reduce_mean(_number(tf.math.is_nan(table))),
            mean,
            deviation,
            _or_nan(tf.reduce_min(tf.where(finite, table, math.inf)), count),
            _or_nan(tf.reduce_max(nowhere), count),
            _high_percentile(tf.reshape(tf.abs(nowhere), [-1]), tf.reshape(finite, [-1])),
            tf.reduce_sum(zero) / count,
            tf.where(tf.math.is_nan(low), math.nan, tf.reduce_sum(saturated) / count),
            tf.reduce_mean(_number(dead)),
            tf.reduce_mean(_number(steady & tf.reduce_all(finite, axis=0))),
        ]
    )


def _weight_of(flat: Any) -> Any:
    import tensorflow as tf

    finite = tf.math.is_finite(flat)
    clean = tf.where(finite, flat, 0.0)
    size = tf.abs(clean)
    count = tf.reduce_sum(_number(finite))
    largest = tf.reduce_max(size)
    scale = tf.maximum(largest, 1e-30)
    _, deviation = _moments(clean, finite)
    return _floats(
        [
            tf.reduce_mean(_number(~finite)),
            tf.reduce_mean(_number(tf.math.is_nan(flat))),
            scale * (tf.reduce_sum(size / scale) / count),
            deviation,
            _or_nan(largest, count),
            _or_nan(scale * tf.sqrt(tf.reduce_sum(tf.square(size / scale))), count),
            tf.reduce_sum(_number(finite & tf.equal(clean, 0.0))) / count,
            tf.reduce_sum(_number(finite & (size < _SMALL))) / count,
        ]
    )


def _moments(clean: Any, finite: Any) -> tuple[Any, Any]:
    """Return mean and standard deviation over finite values, without overflow."""
    import tensorflow as tf

    count = tf.reduce_sum(_number(finite))
    scale = tf.maximum(tf.reduce_max(tf.abs(clean)), 1e-30)
    shares = clean / scale
    mean = tf.reduce_sum(shares) / count
    squares = tf.where(finite, tf.square(shares - mean), 0.0)
    return scale * mean, scale * tf.sqrt(tf.reduce_sum(squares) / count)


def _high_percentile(sizes: Any, finite: Any) -> Any:
    """Return the 95th percentile of the finite values of a sample at even distances."""
    import tensorflow as tf

    stride = tf.maximum(1, (tf.size(sizes) + _SAMPLE - 1) // _SAMPLE)
    held = finite[::stride]
    sizes = tf.where(held, sizes[::stride], -1.0)
    count = tf.reduce_sum(tf.cast(held, tf.int32))
    ordered = tf.sort(sizes)
    place = tf.size(sizes) - count + tf.cast(0.95 * tf.cast(count - 1, tf.float32), tf.int32)
    found = tf.gather(ordered, tf.clip_by_value(place, 0, tf.maximum(tf.size(sizes) - 1, 0)))
    return _or_nan(found, count)


def _spread(table: Any) -> Any:
    """Return max − min of each column."""
    import tensorflow as tf

    return tf.reduce_max(table, axis=0) - tf.reduce_min(table, axis=0)


def _real(value: Any) -> Any:
    """Return a tensor as float32; what float32 cannot hold stays infinite."""
    import tensorflow as tf

    value = tf.convert_to_tensor(value)
    if value.dtype.is_complex:
        value = tf.abs(value)
    return tf.cast(value, tf.float32)


def _number(truth: Any) -> Any:
    import tensorflow as tf

    return tf.cast(truth, tf.float32)


def _or_nan(value: Any, count: Any) -> Any:
    import tensorflow as tf

    return tf.where(count > 0, value, math.nan)


def _floats(values: list[Any]) -> Any:
    import tensorflow as tf

    return tf.stack([tf.cast(value, tf.float32) for value in values])
