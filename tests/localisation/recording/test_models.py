"""Models as the log has them, for each way that Keras has of making one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.localisation.recording.describing import run_described

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
pytest.importorskip("keras")
pytest.importorskip("tensorflow")

PROGRAM = """\
import keras
from keras import layers as L
import numpy as np
image = keras.Sequential([
    keras.Input((8, 8, 1)),
    L.Conv2D(4, 3, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(0.1)),
    L.BatchNormalization(),
    L.ReLU(),
    L.MaxPooling2D(),
    L.Flatten(),
    L.Dense(3, kernel_regularizer=keras.regularizers.L2(0.01)),
    L.Softmax(),
], name="image")
a = keras.Input((4,), name="a")
b = keras.Input((4,), name="b")
shared = L.Dense(5, activation=keras.activations.tanh, name="shared")
base = keras.Sequential([keras.Input((5,)), L.Dense(6, "relu"), L.Dense(5)], name="base")
u = base(shared(a))
v = shared(b)
joined = L.Concatenate(name="join")([u * v, u])
kind = L.Dense(2, activation="softmax", name="kind")(joined)
size = L.Reshape((1,), name="flat")(keras.ops.sigmoid(L.Dense(1, name="size")(u + v)))
wired = keras.Model([a, b], {"kind": kind, "size": size}, name="wired")
class Block(L.Layer):
    def __init__(self, units):
        super().__init__()
        self.inner = L.Dense(units, "relu")
    def call(self, x):
        return self.inner(x)
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.block = Block(7)
        self.out = L.Dense(2, activation=lambda x: x)
    def call(self, x):
        return self.out(self.block(x))
own = Own()
own(np.zeros((1, 3), "float32"))
text = keras.Sequential([
    L.Embedding(10, 4, mask_zero=True),
    L.Bidirectional(L.LSTM(3, return_sequences=True)),
    L.TimeDistributed(L.Dense(2, "relu")),
    L.GRU(4, activation="tanh", recurrent_activation="hard_sigmoid"),
    L.Dropout(0.25),
    L.Dense(1, kernel_initializer=keras.initializers.RandomNormal(stddev=2.0)),
    L.Activation("sigmoid"),
], name="text")
twin = keras.models.clone_model(image)
image.save_weights("image.weights.h5")
image.save("image.keras")
image.load_weights("image.weights.h5")
loaded = keras.models.load_model("image.keras")
described = [image, wired, own, text, twin, loaded]
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the descriptions of the program's models by what the program calls them."""
    found = run_described(tmp_path_factory.mktemp("models"), PROGRAM)["models"]
    return dict(zip(("image", "wired", "own", "text", "twin", "loaded"), found, strict=True))


def layers(model: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the layers of a description by their paths."""
    return {layer["path"]: layer for layer in model["layers"]}


def test_a_sequential_model(models: dict[str, Any]) -> None:
    """Sizes by hand: 3·3·1·4 + 4, 4·4 of which half are trained, 36·3 + 3."""
    image = models["image"]
    assert (image["kind"], image["class"], image["graph_known"]) == (
        "sequential",
        "Sequential",
        True,
    )
    assert [layer["parameters"] for layer in image["layers"]] == [40, 16, 0, 0, 0, 111, 0]
    assert (image["parameters"], image["trainable_parameters"]) == (167, 159)
    assert image["inputs"][0]["shape"] == [None, 8, 8, 1]
    assert image["outputs"] == [
        {"name": image["outputs"][0]["name"], "layer": image["layers"][-1]["path"],
         "shape": [None, 3], "activation": "softmax"},
    ]  # fmt: skip
    activations = [layer["activation"] for layer in image["layers"]]
    assert activations == ["linear", None, "relu", None, None, "linear", "softmax"]
    paths = [layer["path"] for layer in image["layers"]]
    assert [layer["inputs"] for layer in image["layers"]] == [[], *([p] for p in paths[:-1])]
    assert [layer["outputs"] for layer in image["layers"]] == [*([p] for p in paths[1:]), []]


def test_initialisers_and_initial_weights(models: dict[str, Any]) -> None:
    """Zero kernels make all units the same; the text "zeros" is the class Zeros."""
    convolution, dense = models["image"]["layers"][0], models["image"]["layers"][5]
    assert convolution["kernel_initialiser"] == {"class": "Zeros", "config": {}}
    assert convolution["bias_initialiser"] == {"class": "Constant", "config": {"value": 0.1}}
    kernel = convolution["initial"]["kernel"]
    assert (kernel["constant_columns"], kernel["std"], kernel["max_abs"]) == (1.0, 0.0, 0.0)
    assert (kernel["fan_in"], kernel["fan_out"]) == (9, 36)
    assert convolution["initial"]["bias"]["max"] == pytest.approx(0.1)
    assert dense["initial"]["kernel"]["constant_columns"] == 0.0
    assert dense["initial"]["kernel"]["max_abs"] <= (6 / 39) ** 0.5  # Glorot's bound
    assert dense["kernel_regulariser"] == {"class": "L2", "l1": None, "l2": pytest.approx(0.01)}
    assert dense["units"] == 3
    assert convolution["kernel_size"] == [3, 3]


def test_a_wired_model(models: dict[str, Any]) -> None:
    """Shared layers, a nested model, operations, and outputs by their keys."""
    wired, known = models["wired"], layers(models["wired"])
    assert wired["kind"] == "functional"
    inner = [path for path in known if path.startswith("base/")]
    assert len(inner) == 2
    assert known["shared"]["inputs"] == ["a", "b"]
    assert (known["shared"]["shared"], known["shared"]["parameters"]) == (2, 25)
    assert known[inner[0]]["inputs"] == ["shared"]
    assert known[inner[1]]["inputs"] == [inner[0]]
    assert "multiply" in known[inner[1]]["outputs"]
    assert sorted(known["multiply"]["inputs"]) == sorted([inner[1], "shared"])
    assert known["join"]["outputs"] == ["kind"]
    outputs = {output["name"]: output for output in wired["outputs"]}
    assert (outputs["kind"]["layer"], outputs["kind"]["activation"]) == ("kind", "softmax")
    assert (outputs["size"]["layer"], outputs["size"]["activation"]) == ("flat", "sigmoid")


def test_a_model_written_as_code(models: dict[str, Any]) -> None:
    """Its layers are known, its wiring is not."""
    own, known = models["own"], layers(models["own"])
    assert (own["kind"], own["class"], own["graph_known"]) == ("subclassed", "Own", False)
    assert all(layer["inputs"] is layer["outputs"] is None for layer in own["layers"])
    block = next(layer for layer in known.values() if layer["class"] == "Block")
    assert block["module"] == "user"
    inner = next(layer for path, layer in known.items() if path.startswith(block["path"] + "/"))
    assert (inner["activation"], inner["units"], inner["parameters"]) == ("relu", 7, 28)
    assert own["layers"][-1]["activation"] == "custom:<lambda>"


def test_recurrent_and_wrapped_layers(models: dict[str, Any]) -> None:
    """A wrapper is described by what it wraps; an Activation gives its line to its Dense."""
    embedding, both, spread, gru, dropout, dense, last = models["text"]["layers"]
    assert (embedding["units"], embedding["mask_zero"]) == (4, True)
    assert (both["units"], both["activation"], both["return_sequences"]) == (3, "tanh", True)
    assert both["recurrent_activation"] == "sigmoid"
    assert (spread["units"], spread["activation"]) == (2, "relu")
    assert gru["recurrent_activation"] == "hard_sigmoid"
    assert dropout["rate"] == 0.25
    assert dense["kernel_initialiser"]["config"]["stddev"] == 2.0
    assert (dense["activation"], last["activation"]) == ("linear", "sigmoid")
    assert dense["arguments"]["activation"] == last["arguments"]["activation"]
    assert models["text"]["outputs"][0]["activation"] == "sigmoid"
    assert dense["initial"] is None  # not built


def test_lines(models: dict[str, Any]) -> None:
    """Lines and columns as they are counted in the program above."""
    image = models["image"]["layers"]
    assert (models["image"]["site"]["line"], image[0]["site"]["line"]) == (4, 6)
    written = image[0]["arguments"]
    assert (written["kernel_initializer"]["line"], written["kernel_initializer"]["column"]) == (
        6,
        39,
    )
    assert written["activation"]["default"] is True
    both, spread = models["text"]["layers"][1:3]
    assert (both["site"]["line"], both["arguments"]["return_sequences"]["column"]) == (41, 48)
    assert (spread["arguments"]["activation"]["line"], spread["arguments"]["units"]["column"]) == (
        42,
        31,
    )
    inner = next(x for x in models["own"]["layers"] if "/" in x["path"])
    assert [site["line"] for site in inner["chain"]][:3] == [27, 33, 37]
    assert (inner["arguments"]["units"]["line"], inner["arguments"]["units"]["column"]) == (33, 28)


def test_clones_and_loaded_models(models: dict[str, Any]) -> None:
    """A clone has the lines of its original, what was loaded has the line that loaded it."""
    for own, twin in zip(models["image"]["layers"], models["twin"]["layers"], strict=True):
        assert (own["site"], own["arguments"]) == (twin["site"], twin["arguments"])
        assert twin["pretrained"] is False
    lines = {layer["site"]["line"] for layer in models["loaded"]["layers"]}
    assert lines == {52}
    for name in ("image", "loaded"):
        marked = [layer["pretrained"] for layer in models[name]["layers"]]
        assert marked == [True, True, False, False, False, True, False]
    assert all(not layer["pretrained"] for layer in models["wired"]["layers"])


def test_layers_of_a_model_that_was_trained_before(tmp_path: Path) -> None:
    """Only for the second model are the weights of the base from elsewhere."""
    text = """\
import keras
import numpy as np
from keras import layers as L
x, y = np.ones((8, 3)), np.zeros((8, 1))
base = keras.Sequential([keras.Input((3,)), L.Dense(4, "relu")], name="base")
one = keras.Sequential([base, L.Dense(1)])
one.compile("sgd", "mse")
one.fit(x, y, verbose=0)
one.fit(x, y, verbose=0)
two = keras.Sequential([base, L.Dense(1)])
two.compile("sgd", "mse")
two.fit(x, y, verbose=0)
"""
    first, _, second = run_described(tmp_path, text)["models"]
    assert [layer["pretrained"] for layer in first["layers"]] == [False, False]
    assert [layer["pretrained"] for layer in second["layers"]] == [True, False]
