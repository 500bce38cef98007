"""One probe of a model as a function of its probe batch: the run, the gradients, the statistics.

The function is traced once and returns small tensors; what each row of them means is noted
while it is traced.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from envcheck.localisation.recording import probe_statistics as statistics
from envcheck.localisation.recording.probe_activations import (
    activation_name,
    bounds,
    channels_first,
    clips_at,
)
from envcheck.localisation.recording.probe_calls import Call, watched
from envcheck.localisation.recording.probe_paths import Part, weight_names
from envcheck.localisation.recording.probe_state import kept_variables, untouched

__all__ = ["FORWARD", "FULL", "WEIGHTS", "Layout", "Run"]

FULL, FORWARD, WEIGHTS = "full", "forward", "weights"
"""What a run does: loss and gradients too, layers only, or no run of the model at all."""

_WRITES = ("Assign", "ResourceScatter", "ResourceApply", "RngReadAndSkip", "StatefulRandom")
"""Beginnings of the names of operations that change a variable."""


@dataclass
class Layout:
    """What the rows of the tensors of a run stand for."""

    calls: list[tuple[str, int, str | None]] = field(default_factory=list)
    weights: list[tuple[str, str, Any]] = field(default_factory=list)
    gradients: list[int] = field(default_factory=list)
    outputs: list[str | None] = field(default_factory=list)
    elements: int = 0


class Run:
    """A model's probe, traced for one probe batch.

    Args:
        model: a built Keras model on the TensorFlow backend.
        parts: its parts, as `model_parts` gives them.
        kind: FULL, FORWARD or WEIGHTS.
    """

    def __init__(self, model: Any, parts: list[Part], kind: str) -> None:
        self.layout = Layout(weights=_weights(parts))
        self._model = model
        self._parts = parts
        self._kind = kind
        self._function: Any = None
        self._writes = True

    def trace(self, batch: tuple[Any, Any, Any]) -> None:
        """Trace the function for this batch; the model does not run. Raises what the model does."""
        import tensorflow as tf

        function = tf.function(self._compute, autograph=False)
        with untouched(self._model):
            concrete = function.get_concrete_function(*batch)
        self._function = function
        self._writes = _has_writes(concrete)

    def __call__(self, batch: tuple[Any, Any, Any]) -> dict[str, Any]:
        """Run the probe and return its statistics as NumPy arrays by kind."""
        import tensorflow as tf

        with untouched(self._model), self._keeping():
            results = (self._function or self._compute)(*batch)
            return {name: tf.convert_to_tensor(value).numpy() for name, value in results.items()}

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        with kept_variables(self._model) if self._writes else nullcontext():
            yield

    def _compute(self, x: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        import tensorflow as tf

        self.layout.calls, self.layout.outputs, self.layout.gradients = [], [], []
        results: dict[str, Any] = {}
        if self._kind != WEIGHTS:
            results = self._run(x, y, sample_weight)
        rows = [statistics.weight(variable.value) for _, _, variable in self.layout.weights]
        results["weights"] = tf.stack(rows) if rows else tf.zeros([0, len(statistics.WEIGHT)])
        return results

    def _run(self, x: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        import tensorflow as tf

        results: dict[str, Any] = {}
        with tf.GradientTape() as tape, watched(self._parts) as calls:
            predicted = _call(self._model, x)
            if self._kind == FULL:
                loss = self._model._compute_loss(
                    x=x, y=y, y_pred=predicted, sample_weight=sample_weight, training=False
                )
                scale = _loss_scale(self._model)
                scaled = loss if scale is None else loss * tf.cast(scale, loss.dtype)
        if self._kind == FULL:
            results["loss"] = loss
            results["gradients"] = self._gradients(tape, scaled, scale)
        results["activations"] = self._activations(calls)
        results["outputs"] = self._outputs(predicted, calls)
        return results

    def _gradients(self, tape: Any, loss: Any, scale: Any) -> Any:
        import tensorflow as tf

        places = {id(variable): k for k, (_, _, variable) in enumerate(self.layout.weights)}
        variables = [v for v in self._model.trainable_weights if id(v) in places]
        rows = []
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            if gradient is None:
                continue
            dense = _touched(gradient)
            if scale is not None:
                dense = tf.cast(dense, tf.float32) / scale
            self.layout.gradients.append(places[id(variable)])
            rows.append(statistics.weight(dense))
        return tf.stack(rows) if rows else tf.zeros([0, len(statistics.WEIGHT)])

    def _activations(self, calls: list[Call]) -> Any:
        import tensorflow as tf

        rows = []
        for call in calls:
            numeric = [tensor for tensor in call.tensors if _is_numeric(tensor)]
            if not numeric:
                continue
            name = activation_name(call.part.layer)
            first = channels_first(call.part.layer)
            row = statistics.activation(numeric[0], channels_first=first, bounds=bounds(name))
            rows.append(_worst(row, numeric[1:]))
            self.layout.calls.append((call.part.path, call.index, name))
            self.layout.elements += _elements(numeric[0])
        return tf.stack(rows) if rows else tf.zeros([0, len(statistics.ACTIVATION)])

    def _outputs(self, predicted: Any, calls: list[Call]) -> Any:
        import keras
        import tensorflow as tf

        names = list(getattr(self._model, "output_names", None) or ())
        rows = []
        for index, tensor in enumerate(keras.tree.flatten(predicted)):
            if not _is_numeric(tensor) or tensor.shape.rank in (None, 0):
                continue
            makers = [c.part.layer for c in calls if any(tensor is t for t in c.tensors)]
            name = activation_name(makers[-1]) if makers else None
            rows.append(statistics.output(tensor, clips_at(name)))
            self.layout.outputs.append(str(names[index]) if index < len(names) else None)
        return tf.stack(rows) if rows else tf.zeros([0, len(statistics.OUTPUT)])


def _weights(parts: list[Part]) -> list[tuple[str, str, Any]]:
    """Return (path of the layer, name, variable) of every weight, in the model's order."""
    found = []
    for part in parts:
        names = weight_names(part.variables)
        for name, variable in zip(names, part.variables, strict=True):
            if "string" not in str(variable.dtype):
                found.append((part.path, name, variable))
    return found


def _call(model: Any, x: Any) -> Any:
    return model(x, training=False) if model._call_has_training_arg else model(x)


def _loss_scale(model: Any) -> Any:
    """Return the factor by which the optimiser scales the loss, None for none."""
    import tensorflow as tf

    optimiser = model.optimizer
    if type(optimiser).__name__ != "LossScaleOptimizer":
        return None
    return tf.cast(optimiser.scale_loss(tf.constant(1.0)), tf.float32)


def _touched(gradient: Any) -> Any:
    """Return a gradient as a dense tensor; of a sparse one, the rows the batch touched."""
    import tensorflow as tf

    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, places = tf.unique(tf.reshape(gradient.indices, [-1]))
    return tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))


def _is_numeric(tensor: Any) -> bool:
    import tensorflow as tf

    if not isinstance(tensor, tf.Tensor) or tensor.shape.rank == 0:
        return False
    kind = tensor.dtype
    return bool(kind.is_floating or kind.is_integer or kind.is_bool or kind.is_complex)


def _worst(row: Any, others: list[Any]) -> Any:
    """Raise the non-finite share of the first result to that of the worst other result."""
    import tensorflow as tf

    shares = [
        1.0 - tf.reduce_mean(tf.cast(tf.math.is_finite(other), tf.float32))
        for other in others
        if other.dtype.is_floating
    ]
    if not shares:
        return row
    worst = tf.reduce_max(tf.stack([row[0], *shares]))
    return tf.concat([tf.reshape(worst, [1]), row[1:]], axis=0)


def _elements(tensor: Any) -> int:
    return math.prod(int(size) if size is not None else 1 for size in tensor.shape)


def _has_writes(concrete: Any) -> bool:
    """Return whether a traced function, or one that it calls, changes a variable."""
    definition = concrete.graph.as_graph_def()
    nodes = [*definition.node]
    for function in definition.library.function:
        nodes += function.node_def
    return any(node.op.startswith(_WRITES) for node in nodes)
