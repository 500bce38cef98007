"""The probe batch: the first rows of a training batch, in the form that the model takes."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Batch",
    "count_rows",
    "first_rows",
    "nonfinite_shares",
    "obstacle",
    "prepare",
    "specification",
]

Batch = tuple[Any, Any, Any]
"""Inputs, targets and sample weights, each as the model takes it or None."""

_ROWS = 64


def prepare(model: Any, x: Any, y: Any, sample_weight: Any) -> Batch:
    """Return the first 64 rows as tensors; as many as the model demands if it fixes them.

    Floating-point arrays that are not tensors are cast to Keras's default precision, as `fit`
    casts them.
    """
    import keras

    batch: Batch = keras.tree.map_structure(_tensor, (x, y, sample_weight))
    fixed = _fixed_rows(model)
    return first_rows(batch, fixed if fixed is not None else _ROWS)


def first_rows(batch: Batch, rows: int) -> Batch:
    """Return the first rows of every tensor of a batch."""
    import keras

    def cut(tensor: Any) -> Any:
        return tensor if tensor is None or not tensor.shape.rank else tensor[:rows]

    cut_batch: Batch = keras.tree.map_structure(cut, batch)
    return cut_batch


def count_rows(x: Any) -> int:
    """Return the rows of the first input."""
    import keras

    for tensor in keras.tree.flatten(x):
        if tensor is not None and tensor.shape.rank:
            return int(tensor.shape[0] or 0)
    return 0


def nonfinite_shares(batch: Batch) -> dict[str, float | None]:
    """Return the share of NaN and infinite numbers in the inputs and in the targets."""
    return {
        "input_nonfinite_share": _nonfinite(batch[0]),
        "target_nonfinite_share": _nonfinite(batch[1]),
    }


def specification(batch: Batch) -> tuple[Any, ...]:
    """Return what a traced function depends on: structure, shapes and dtypes."""
    import keras

    flat = keras.tree.flatten(batch)
    return (
        str(keras.tree.map_structure(type, batch)),
        tuple(None if item is None else (str(item.shape), str(item.dtype)) for item in flat),
    )


def _nonfinite(values: Any) -> float | None:
    """Return the largest share of one array, None where none is of floating point."""
    import keras
    import tensorflow as tf

    shares = []
    for value in keras.tree.flatten(values):
        dense = getattr(value, "flat_values", getattr(value, "values", value))
        if isinstance(dense, tf.Tensor) and dense.dtype.is_floating:
            finite = tf.cast(tf.math.is_finite(dense), tf.float32)
            shares.append(1.0 - float(tf.reduce_mean(finite)))
    return max(shares, default=None)


def obstacle(model: Any) -> str | None:
    """Return why the loss that a fit minimises cannot be computed from outside, or None."""
    import keras
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    if not isinstance(model, keras.Model):
        return "not a Keras model"
    if type(model).train_step is not TensorFlowTrainer.train_step or "train_step" in vars(model):
        return "the model has its own train_step, whose loss is not known from outside"
    if model.optimizer is None:
        return "the model is not compiled"
    return None


def _tensor(value: Any) -> Any:
    import keras
    import tensorflow as tf

    if value is None or isinstance(value, tf.Tensor | tf.RaggedTensor | tf.SparseTensor):
        return value
    tensor = tf.convert_to_tensor(value)
    return tf.cast(tensor, keras.config.floatx()) if tensor.dtype.is_floating else tensor


def _fixed_rows(model: Any) -> int | None:
    """Return the number of rows that the model's inputs fix, None if they take any."""
    import keras

    try:
        inputs = keras.tree.flatten(getattr(model, "inputs", None) or [])
    except (AttributeError, ValueError):
        return None
    sizes = {tensor.shape[0] for tensor in inputs if len(tensor.shape)}
    sizes.discard(None)
    return int(max(sizes)) if sizes else None
