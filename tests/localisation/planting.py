"""Small models with one layer of a given kind, and faults planted into it at a known batch.

The layer is called `target`; what is planted into it, and after which batch, is the truth that
localisation is held against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROWS, BATCH = 96, 16

Plant = Callable[[Any, int], None]
"""Called with the target layer and the number of steps done, after each step."""


def data(kind: str) -> tuple[Any, Any]:
    """Return inputs for a kind of model, and a target that depends on them."""
    import numpy as np

    random = np.random.default_rng(7)
    shapes = {"vector": (8,), "sequence": (6, 5), "image": (8, 8, 2)}
    if kind == "tokens":
        x = random.integers(0, 20, (ROWS, 6))
        return x, (x.mean(axis=1, keepdims=True) / 10 - 1).astype("float32")
    x = random.normal(size=(ROWS, *shapes[kind])).astype("float32")
    flat = x.reshape(ROWS, -1)
    return x, np.tanh(flat[:, :1] - flat[:, 1:2]).astype("float32")


def layers_of(kind: str) -> dict[str, Callable[[str | None], Any]]:
    """Return the layers that take a kind of input: name of the class to what builds one.

    The argument is the activation, None for that of the class.
    """
    from keras import layers as k

    def options(activation: str | None) -> dict[str, Any]:
        chosen = {} if activation is None else {"activation": activation}
        return {"name": "target", **chosen}

    if kind == "vector":
        return {
            "Dense": lambda a: k.Dense(6, **options(a)),
            "Dense without bias": lambda a: k.Dense(6, use_bias=False, **options(a)),
            "BatchNormalization": lambda _: k.BatchNormalization(name="target"),
            "LayerNormalization": lambda _: k.LayerNormalization(name="target"),
            "PReLU": lambda _: k.PReLU(name="target"),
        }
    if kind == "sequence":
        return {
            "LSTM": lambda a: k.LSTM(5, return_sequences=True, **options(a)),
            "GRU": lambda a: k.GRU(5, return_sequences=True, **options(a)),
            "SimpleRNN": lambda a: k.SimpleRNN(5, return_sequences=True, **options(a)),
            "RNN": lambda _: k.RNN(k.LSTMCell(5), return_sequences=True, name="target"),
            "Bidirectional": lambda _: k.Bidirectional(
                k.LSTM(4, return_sequences=True), name="target"
            ),
            "TimeDistributed": lambda a: k.TimeDistributed(k.Dense(5, activation=a), name="target"),
            "Conv1D": lambda a: k.Conv1D(5, 3, padding="same", **options(a)),
            "SeparableConv1D": lambda a: k.SeparableConv1D(5, 3, padding="same", **options(a)),
            "EinsumDense": lambda a: k.EinsumDense(
                "abc,cd->abd", (6, 5), bias_axes="d", **options(a)
            ),
            "MultiHeadAttention": lambda _: k.MultiHeadAttention(2, 4, name="target"),
        }
    if kind == "image":
        return {
            "Conv2D": lambda a: k.Conv2D(4, 3, padding="same", **options(a)),
            "Conv2D without bias": lambda a: k.Conv2D(
                4, 3, padding="same", use_bias=False, **options(a)
            ),
            "DepthwiseConv2D": lambda a: k.DepthwiseConv2D(3, padding="same", **options(a)),
            "SeparableConv2D": lambda a: k.SeparableConv2D(4, 3, padding="same", **options(a)),
            "Conv2DTranspose": lambda a: k.Conv2DTranspose(4, 3, padding="same", **options(a)),
        }
    return {"Embedding": lambda _: k.Embedding(20, 5, name="target")}


def build(kind: str, layer: Any) -> Any:
    """Return a model: a layer with weights, the target, a tail with weights."""
    import keras
    from keras import layers as k

    x, _ = data(kind)
    inputs = keras.Input(x.shape[1:], dtype="int32" if kind == "tokens" else "float32")
    value = inputs
    if kind != "tokens":
        ahead = (
            k.Conv2D(2, 3, padding="same", name="ahead")
            if kind == "image"
            else k.Dense(x.shape[-1], name="ahead")
        )
        value = ahead(value)
    value = layer(value, value) if type(layer).__name__ == "MultiHeadAttention" else layer(value)
    if len(value.shape) == 4:
        value = k.GlobalAveragePooling2D(name="pool")(value)
    if len(value.shape) == 3:
        value = k.Flatten(name="flat")(value)
    value = k.Dense(4, activation="tanh", name="behind")(value)
    return keras.Model(inputs, k.Dense(1, name="head")(value))


def train(
    model: Any, kind: str, steps: int, plant: Plant, *, every: int = 0, optimiser: Any = "adam"
) -> dict[str, Any]:
    """Train on batches, plant, and return the fit as a training log holds it.

    Probes are made before steps 0, 1, 2, 4, 8, … (or before each multiple of `every`), when a
    weight is no longer finite, and at the end.
    """
    from envcheck.localisation.recording.probing import Prober

    x, y = data(kind)
    model.compile(optimiser, "mse")
    target = model.get_layer("target")
    prober = Prober(model, x[:64], y[:64])
    per_epoch = ROWS // BATCH
    probes = []
    for step in range(steps):
        due = step % every == 0 if every else step & (step - 1) == 0
        probed = due or prober.glance()
        if probed:
            probes.append(prober.measure(step, step // per_epoch, step % per_epoch))
            prober.before_step()
        rows = slice((step % per_epoch) * BATCH, (step % per_epoch + 1) * BATCH)
        model.train_on_batch(x[rows], y[rows])
        plant(target, step + 1)
        if probed:
            prober.after_step()
    probes.append(prober.measure(steps, (steps - 1) // per_epoch, (steps - 1) % per_epoch + 1))
    return {"id": "f0", "model": "m0", "probes": probes, "losses": [{"name": "mse"}],
            "optimiser": {}, "data": {}, "curves": {}}  # fmt: skip


def described(model: Any) -> dict[str, Any]:
    """Return as much of a model as symptoms need: classes of layers, and what makes the output."""
    layers = [{"path": layer.name, "class": type(layer).__name__} for layer in model.layers]
    return {"id": "m0", "layers": layers, "outputs": [{"layer": "head"}]}
