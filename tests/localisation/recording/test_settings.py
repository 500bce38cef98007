"""How fits are set up, and on which line each setting is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.localisation.recording.describing import run_described

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
pytest.importorskip("keras")
pytest.importorskip("tensorflow")

HEAD = """\
import keras, numpy as np
from keras import layers as L
x, y = np.ones((8, 3)), np.arange(8) % 2
def net(units=1, activation=None):
    return keras.Sequential([keras.Input((3,)), L.Dense(units, activation)])
m = net()
"""
"""Six lines, so that what follows begins on line 7."""


def fit(folder: Path, text: str) -> dict[str, Any]:
    """Return the first fit of a program."""
    found: dict[str, Any] = run_described(folder, HEAD + text)["fits"][0]
    return found


def place(found: dict[str, Any], name: str) -> tuple[int, int, bool]:
    """Return line, column and default of an argument."""
    site = found["arguments"][name]
    return site["line"], site["column"], site["default"]


def test_words(tmp_path: Path) -> None:
    """Words stand for losses and optimisers with their defaults."""
    found = fit(tmp_path, 'm.compile("sgd", "mse", metrics=["mae"])\nm.fit(x, y, verbose=0)\n')
    (loss,) = found["losses"]
    assert (loss["name"], loss["from_logits"], loss["custom"]) == (
        "mean_squared_error",
        None,
        False,
    )
    optimiser = found["optimiser"]
    assert (optimiser["class"], optimiser["learning_rate"]) == ("SGD", 0.01)
    assert (optimiser["learning_rate_default"], optimiser["momentum"]) == (True, 0.0)
    assert found["metrics"] == ["mae"]
    assert place(found, "loss") == (7, 18, False)
    assert place(found, "optimizer") == (7, 11, False)
    assert place(found, "learning_rate") == (7, 11, True)
    assert (found["compile_site"]["line"], found["site"]["line"]) == (7, 8)
    assert (found["mixed_precision"], found["custom_train_step"]) == ("float32", False)


def test_objects(tmp_path: Path) -> None:
    """Settings of objects, also those that are made on a line of their own."""
    found = fit(
        tmp_path,
        "rate = keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.9)\n"
        "opt = keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, clipnorm=1.0)\n"
        "ce = keras.losses.BinaryCrossentropy(\n    from_logits=True, label_smoothing=0.1)\n"
        "m.compile(optimizer=opt, loss=ce, metrics=[keras.metrics.BinaryAccuracy()])\n"
        "m.fit(x, y, verbose=0)\n",
    )
    (loss,) = found["losses"]
    assert (loss["name"], loss["from_logits"]) == ("binary_crossentropy", True)
    assert loss["label_smoothing"] == pytest.approx(0.1)
    optimiser = found["optimiser"]
    assert (optimiser["schedule"], optimiser["learning_rate"]) == ("ExponentialDecay", 0.5)
    assert (optimiser["momentum"], optimiser["nesterov"], optimiser["clipnorm"]) == (0.9, True, 1.0)
    assert optimiser["learning_rate_default"] is False
    assert found["metrics"] == ["binary_accuracy"]
    assert place(found, "optimizer") == (8, 7, False)
    assert place(found, "learning_rate") == (7, 8, False)
    assert place(found, "momentum") == (8, 43, False)
    assert place(found, "from_logits") == (10, 17, False)
    assert place(found, "loss") == (9, 6, False)


def test_losses_of_several_outputs(tmp_path: Path) -> None:
    """Each output has its loss, its weight and the place of its loss."""
    found = fit(
        tmp_path,
        'i = keras.Input((3,))\no = {"k": L.Dense(2, "softmax")(i), "s": L.Dense(1)(i)}\n'
        'm = keras.Model(i, o)\nm.compile("adam",\n'
        '  loss={"s": "mae",\n        "k": keras.losses.SparseCategoricalCrossentropy()},\n'
        '  loss_weights={"s": 0.5, "k": 1.0})\n'
        'm.fit(x, {"k": y, "s": y * 1.0}, verbose=0)\n',
    )
    losses = {loss["output"]: loss for loss in found["losses"]}
    assert losses["k"]["name"] == "sparse_categorical_crossentropy"
    assert losses["s"]["name"] == "mean_absolute_error"
    assert (losses["k"]["weight"], losses["s"]["weight"]) == (1.0, 0.5)
    assert (losses["k"]["site"]["line"], losses["k"]["site"]["column"]) == (12, 14)
    assert (losses["s"]["site"]["line"], losses["s"]["site"]["column"]) == (11, 14)


def test_losses_and_steps_of_the_programs_own(tmp_path: Path) -> None:
    """They are called custom, with their names."""
    found = fit(
        tmp_path,
        "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.d = L.Dense(1)\n    def call(self, x):\n        return self.d(x)\n"
        "    def train_step(self, data):\n        return super().train_step(data)\n"
        "    def compile(self, rate, **more):\n"
        "        super().compile(keras.optimizers.Adam(rate), **more)\n"
        "def odd(a, b):\n    return keras.ops.mean((a - b) ** 4)\n"
        "m = Net()\nm.compile(0.25, loss=odd)\nm.fit(x, y, epochs=1, verbose=0)\n",
    )
    (loss,) = found["losses"]
    assert (loss["name"], loss["custom"]) == ("custom:odd", True)
    assert (found["custom_train_step"], found["custom_loss_method"]) == (True, False)
    assert found["optimiser"]["learning_rate"] == 0.25
    assert place(found, "learning_rate") == (20, 11, False)
    assert place(found, "loss") == (20, 22, False)


def test_the_word_for_any_cross_entropy(tmp_path: Path) -> None:
    """Keras chooses by the targets, and that choice is told once it is made."""
    found = fit(
        tmp_path, 'm = net(2, "softmax")\nm.compile("adam", "ce")\nm.fit(x, y, verbose=0)\n'
    )
    assert found["losses"][0]["name"] in ("sparse_categorical_crossentropy", "crossentropy")


def test_mixed_precision(tmp_path: Path) -> None:
    """The optimiser inside the one that scales the loss is the one that is told."""
    found = fit(
        tmp_path,
        'keras.mixed_precision.set_global_policy("mixed_float16")\nm = net()\n'
        "m.compile(keras.optimizers.Adam(0.125), 'mse')\nm.fit(x, y, verbose=0)\n",
    )
    assert found["mixed_precision"] == "mixed_float16"
    assert (found["optimiser"]["class"], found["optimiser"]["learning_rate"]) == ("Adam", 0.125)
    assert place(found, "learning_rate") == (9, 33, False)


def test_keras_takes_positions_as_we_say() -> None:
    """The table of signatures is that of the Keras that is installed."""
    import inspect

    import keras

    from envcheck.localisation.source_signatures import _SIGNATURES

    places = (
        keras.layers, keras.optimizers, keras.losses, keras.initializers, keras.callbacks,
        keras.optimizers.schedules, keras.Model,
    )  # fmt: skip
    for name, text in _SIGNATURES.items():
        owner = next((place for place in places if hasattr(place, name)), None)
        if owner is None:
            assert name == "train_test_split"
            continue
        thing = getattr(owner, name)
        called: Any = vars(thing).get("__init__", thing) if isinstance(thing, type) else thing
        signature = inspect.signature(called)
        known = [p.name for p in signature.parameters.values() if p.kind in (0, 1)][1:]
        assert text.split() == known[: len(text.split())], name
