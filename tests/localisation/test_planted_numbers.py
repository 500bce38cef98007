"""Faults planted into real Keras layers at a known batch are found there, healthy ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.localisation.symptoms import Symptom, bracket, symptoms_of
from tests.localisation.planting import Plant, build, data, described, layers_of, train

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

STEPS, PLANTED = 20, 5
"""Steps done, and after how many of them the fault is planted: between the probes of 4 and 8."""

ALL = {
    "vector": ("Dense", "Dense without bias", "BatchNormalization", "LayerNormalization", "PReLU"),
    "sequence": (
        "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "TimeDistributed", "Conv1D",
        "SeparableConv1D", "EinsumDense", "MultiHeadAttention",
    ),
    "image": (
        "Conv2D", "Conv2D without bias", "DepthwiseConv2D", "SeparableConv2D", "Conv2DTranspose",
    ),
    "tokens": ("Embedding",),
}  # fmt: skip
EVERY = [(kind, name) for kind, names in ALL.items() for name in names]
WITH_BIAS = [
    ("vector", "Dense"), ("sequence", "LSTM"), ("sequence", "GRU"), ("sequence", "SimpleRNN"),
    ("sequence", "TimeDistributed"), ("sequence", "Conv1D"), ("sequence", "SeparableConv1D"),
    ("sequence", "EinsumDense"), ("image", "Conv2D"), ("image", "DepthwiseConv2D"),
    ("image", "SeparableConv2D"), ("image", "Conv2DTranspose"),
]  # fmt: skip
BOUNDED = [pair for pair in WITH_BIAS if pair[1] != "LSTM"]
"""The result of an LSTM is the product of a gate and a tanh, which need not be at a bound."""
THROUGH = [
    pair
    for pair in EVERY
    if pair[1] not in ("Embedding", "BatchNormalization", "PReLU", "LayerNormalization")
]
"""Layers whose kernel all of the gradient goes through."""


def _fit(
    kind: str,
    name: str,
    plant: Plant,
    activation: str | None = None,
    optimiser: str = "adam",
    seed: int = 3,
) -> tuple[dict[str, Any], dict[str, Any]]:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(seed)
    chosen: Any = optimiser
    if optimiser == "sgd":
        chosen = keras.optimizers.SGD(1e-3)
    model = build(kind, layers_of(kind)[name](activation))
    return train(model, kind, STEPS, plant, optimiser=chosen), described(model)


def _found(fitted: tuple[dict[str, Any], dict[str, Any]], kind: str) -> Symptom:
    found = symptoms_of(*fitted)
    return next(symptom for symptom in found if symptom.kind == kind)


def _holds(symptom: Symptom) -> bool:
    """Return whether the planted batch lies between the last good and the first bad probe."""
    return symptom.good is not None and symptom.good.step < PLANTED <= symptom.bad.step


def _set_biases(value: float) -> Plant:
    def plant(layer: Any, step: int) -> None:
        for weight in layer.weights if step == PLANTED else ():
            if weight.name == "bias":
                weight.assign(weight.numpy() * 0 + value)

    return plant


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_nan(kind: str, name: str) -> None:
    """One element of one weight becomes NaN after batch 5."""

    def plant(layer: Any, step: int) -> None:
        if step == PLANTED:
            value = layer.trainable_weights[0].numpy().copy()
            value.flat[0] = float("nan")
            layer.trainable_weights[0].assign(value)

    symptom = _found(_fit(kind, name, plant), "nonfinite-weights")

    assert symptom.layer == "target"
    assert bracket(symptom) == "between batch 4 and batch 5 of epoch 1"


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_exploding(kind: str, name: str) -> None:
    """A weight is a million times as large after batch 5, and stays so."""

    def plant(layer: Any, step: int) -> None:
        if step == PLANTED:
            layer.trainable_weights[0].assign(layer.trainable_weights[0].numpy() * 1e6 + 1e3)

    symptom = _found(_fit(kind, name, plant, optimiser="sgd"), "exploding")

    assert symptom.layer == "target"
    assert _holds(symptom)


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_frozen(kind: str, name: str) -> None:
    """From batch 6 on the weights are put back after every step."""
    kept: list[Any] = []

    def plant(layer: Any, step: int) -> None:
        if step <= PLANTED:
            kept[:] = [weight.numpy().copy() for weight in layer.weights]
        else:
            for weight, value in zip(layer.weights, kept, strict=True):
                weight.assign(value)

    symptom = _found(_fit(kind, name, plant), "frozen")

    assert (symptom.layer, symptom.others) == ("target", ())
    assert _holds(symptom)


@pytest.mark.parametrize(("kind", "name"), WITH_BIAS)
def test_dead(kind: str, name: str) -> None:
    """The biases of a rectifier are −30 after batch 5."""
    symptom = _found(_fit(kind, name, _set_biases(-30.0), "relu", "sgd"), "dead")

    assert symptom.layer == "target"
    assert _holds(symptom)


@pytest.mark.parametrize(("kind", "name"), BOUNDED)
def test_saturated(kind: str, name: str) -> None:
    """The biases of a sigmoid are 30 after batch 5."""
    symptom = _found(_fit(kind, name, _set_biases(30.0), "sigmoid", "sgd"), "saturated")

    assert symptom.layer == "target"
    assert _holds(symptom)


@pytest.mark.parametrize(("kind", "name"), THROUGH)
def test_vanishing(kind: str, name: str) -> None:
    """From batch 5 on the weights are a billionth of what they were."""
    tiny: list[Any] = []

    def plant(layer: Any, step: int) -> None:
        if step == PLANTED:
            tiny[:] = [weight.numpy() * 1e-9 for weight in layer.weights]
        for weight, value in zip(layer.weights, tiny, strict=bool(tiny)):
            weight.assign(value)

    symptom = _found(_fit(kind, name, plant, optimiser="sgd"), "vanishing")

    assert symptom.layer == "target"
    assert _holds(symptom)


@pytest.mark.parametrize("seed", [3, 11])
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_healthy(kind: str, name: str, seed: int) -> None:
    """The same models without a planted fault have no symptom."""
    fitted = _fit(kind, name, lambda _layer, _step: None, seed=seed)

    assert [symptom.kind for symptom in symptoms_of(*fitted)] == []


def test_a_probe_leaves_no_trace() -> None:
    """Weights, seeds, metrics and the generators are bit for bit as before."""
    keras = pytest.importorskip("keras")
    import random

    import numpy as np

    from envcheck.localisation.recording.probing import Prober

    x, y = data("vector")
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((8,)), layers.Dense(6), layers.BatchNormalization(), layers.Dropout(0.5),
        layers.Dense(1),
    ])  # fmt: skip
    model.compile("adam", "mse", metrics=["mae"])
    model.train_on_batch(x, y)

    def state() -> list[Any]:
        kept = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
        return [
            [variable.numpy().tobytes() for variable in kept],
            random.getstate(),
            str(np.random.get_state()),
            keras.layers.Dense.__call__,
        ]

    before = state()
    prober = Prober(model, x, y)
    probe = prober.measure(0, 0, 0)

    assert state() == before
    assert probe["loss"] == pytest.approx(float(model.evaluate(x[:64], y[:64], verbose=0)[0]), 1e-5)
