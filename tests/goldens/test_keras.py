"""A Keras model recorded under TensorFlow and replayed elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import envcheck

pytestmark = pytest.mark.slow
keras = pytest.importorskip("keras", exc_type=ImportError)
np = pytest.importorskip("numpy")

MAKE = """
import numpy as np, keras, tensorflow as tf
keras.utils.set_random_seed(3)
layers = keras.layers
model = keras.Sequential([
    keras.Input((12, 12, 3), name="image"), layers.Rescaling(2.0, -1.0, name="centre"),
    layers.Conv2D(8, 3, activation="relu", name="edges"),
    layers.BatchNormalization(name="norm"), layers.Flatten(name="flat"),
    layers.Dense(32, activation="relu", name="hidden"), layers.Dense(40, name="scores"),
    layers.Softmax(name="decision")])
model.save("model.keras")
model(np.zeros((1, 12, 12, 3), "float32"))
model.export("model.onnx", format="onnx")
model.export("saved")
converter = tf.lite.TFLiteConverter.from_saved_model("saved")
open("model.tflite", "wb").write(converter.convert())
converter.optimizations = [tf.lite.Optimize.DEFAULT]
drawn = np.random.default_rng(1).random((40, 1, 12, 12, 3), dtype="float32")
converter.representative_dataset = lambda: ([one] for one in drawn)
open("int8.tflite", "wb").write(converter.convert())
weights = model.get_layer("hidden").get_weights()
weights[0][1, 1] += 0.05
model.get_layer("hidden").set_weights(weights)
model.save("wrong.keras")
model.export("wrong.onnx", format="onnx")
"""
ENTRY = """
import numpy as np
STEP = {step}
def load(raw):
    image = raw["image"].astype("float32") / 255
    if STEP:
        small = image.reshape(len(image), 12, 2, 12, 2, 3).mean((2, 4))
    else:
        small = image[:, ::2, ::2]
    return small.astype("float32")
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, its conversions, and a copy with one wrong weight."""
    folder = tmp_path_factory.mktemp("keras")
    done = subprocess.run(
        [sys.executable, "-c", MAKE], cwd=folder, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    return folder


def run(folder: Path, *arguments: str, **environ: str) -> Any:
    """Run `envcheck golden`, which loads TensorFlow and so takes its time."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore", **environ}
    done = envcheck("golden", *arguments, cwd=folder, environ=quiet)
    assert done.returncode in (0, 1), done.stderr
    return done


def replay(folder: Path, model: str, **environ: str) -> dict[str, Any]:
    """Return the result of a replay as JSON data, and that of its only output as `output`."""
    done = run(folder, "replay", model, "--golden", "model.golden", "--format", "json", **environ)
    found: dict[str, Any] = json.loads(done.stdout)
    (found["output"],) = found["parts"]["model"]
    assert done.returncode == (0 if found["verdict"] in ("exact", "noise") else 1)
    return found


@pytest.fixture(scope="module")
def recorded(models: Path) -> Path:
    """Return the folder with a recording in it, made with oneDNN."""
    done = run(models, "record", "model.keras", "--layers", "--samples", "96",
               "-o", "model.golden", TF_ENABLE_ONEDNN_OPTS="1")  # fmt: skip
    for source in ("double precision", "one at a time", "in halves", "one thread", "other kernels"):
        assert f"{source} " in done.stderr
    return models


@pytest.mark.parametrize(
    ("model", "runtime", "needs"),
    [
        ("model.onnx", "onnxruntime", "onnxruntime"),
        ("model.tflite", "litert", "ai_edge_litert"),
        ("saved", "savedmodel", "tensorflow"),
    ],
)
def test_conversions_are_within_noise(recorded: Path, model: str, runtime: str, needs: str) -> None:
    """Other runtimes compute what TensorFlow recorded, but for rounding."""
    pytest.importorskip(needs)
    found = replay(recorded, model)

    assert found["verdict"] in ("noise", "exact")
    assert 0 <= found["output"]["error"] < 1e-6
    assert found["output"]["flips"] == 0
    assert (found["recorded"]["runtime"], found["replayed"]["runtime"]) == ("keras", runtime)


def test_other_kernels_are_within_noise(recorded: Path) -> None:
    """Without oneDNN the rounding differs, by a size that numpy finds, too."""
    found = replay(recorded, "model.keras", TF_ENABLE_ONEDNN_OPTS="0")
    with np.load(recorded / "model.golden") as arrays:
        given, known = arrays["input.0"], arrays["output.1"].astype("float64")
    seen = predicted(recorded / "model.keras", given, TF_ENABLE_ONEDNN_OPTS="0")
    error = (np.linalg.norm(seen - known, axis=1) / np.linalg.norm(known, axis=1)).max()

    assert found["verdict"] == ("noise" if error else "exact")
    assert found["output"]["error"] == pytest.approx(error, rel=1e-3)
    assert found["output"]["error"] < found["output"]["limit"] < 1e-4


def predicted(model: Path, given: Any, **environ: str) -> Any:
    """Return what Keras itself predicts in a process of its own, as float64."""
    import os

    code = (
        "import sys, keras, numpy as np\n"
        "given = np.load('given.npy')\n"
        "found = keras.saving.load_model(sys.argv[1]).predict(given, batch_size=len(given),"
        " verbose=0)\n"
        "np.save('seen.npy', found)"
    )
    folder = model.parent
    np.save(folder / "given.npy", given)
    subprocess.run(
        [sys.executable, "-c", code, str(model)], cwd=folder, env={**os.environ, **environ},
        check=True, capture_output=True, timeout=200,
    )  # fmt: skip
    return np.load(folder / "seen.npy").astype("float64")


def test_one_wrong_weight(recorded: Path) -> None:
    """One weight that is off by 0.05 is drift, and its layer is named."""
    found = replay(recorded, "wrong.keras")

    assert found["verdict"] == "drift"
    assert found["first_layer"]["name"] == "hidden"


def test_an_int8_model(recorded: Path) -> None:
    """A quantised conversion is drift; its flips are those that LiteRT itself shows."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    found = replay(recorded, "int8.tflite")
    with np.load(recorded / "model.golden") as arrays:
        given, known = arrays["input.0"], arrays["output.1"]
    interpreter = litert.Interpreter(model_path=str(recorded / "int8.tflite"))
    place = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(place, given.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(place, given)
    interpreter.invoke()
    seen = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    flips = int((seen.argmax(1) != known.argmax(1)).sum())

    assert found["verdict"] == "drift"
    assert found["output"]["decisions"] == len(given) == 96
    assert flips > 0
    assert abs(found["output"]["flips"] - flips) <= 2, "reference kernels round ties otherwise"
    assert any("envcheck parity" in note or "same name" in note for note in found["notes"])


def test_a_segment_keeps_the_fingerprint(models: Path) -> None:
    """What `envcheck parity` cuts out of a model carries the fingerprint of the model."""
    import envcheck as product
    from tests.embedding.test_embedding import TRAIN

    product.embed(models / "wrong.onnx", TRAIN)
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}
    done = envcheck("parity", "model.keras", "wrong.onnx", "--repro", "fault", cwd=models,
                    environ=quiet)  # fmt: skip
    assert done.returncode == 1, done.stderr

    assert product.extract(models / "fault" / "segment.onnx").facts == TRAIN.facts


def test_layers_of_a_saved_model(models: Path) -> None:
    """A SavedModel shows its outputs alone; LiteRT shows what is in between."""
    pytest.importorskip("ai_edge_litert")
    counts = {}
    for model in ("saved", "model.tflite"):
        done = run(models, "record", model, "--layers", "-o", f"{model}.golden")
        counts[model] = int(re.findall(r"digests of (\d+) layers", done.stderr)[0])
        again = run(models, "replay", model, "--golden", f"{model}.golden")
        assert again.stdout.startswith("golden: exact"), again.stdout
    assert counts["saved"] == 2
    assert counts["model.tflite"] > 5


def test_another_resize(models: Path) -> None:
    """Another way to make an image small is found in preprocessing, not in the model."""
    images = np.random.default_rng(5).integers(0, 256, (4, 24, 24, 3)).astype("uint8")
    np.savez(models / "raw.npz", image=images)
    code = models / "pictures.py"
    code.write_text(ENTRY.format(step=1))
    entry = ["--entry", "pictures:load"]
    run(models, "record", "model.keras", "--inputs", "raw.npz", *entry, "-o", "raw.golden")
    again = ["replay", "model.onnx", "--golden", "raw.golden", *entry]
    assert run(models, *again).returncode == 0

    code.write_text(ENTRY.format(step=0))
    done = run(models, *again)
    assert done.returncode == 1
    assert "  preprocessing " in done.stdout
    assert "drift" in done.stdout.partition("\n  model ")[0]


def test_the_page(models: Path, tmp_path: Path) -> None:
    """The commands of the page on goldens do what they say."""
    from tests.cli.running import PROGRAM
    from tests.startup.pages import blocks, commands_in

    (block,) = [text for text in blocks("containers.md") if "golden record" in text]
    for name in ("model.keras", "model.onnx"):
        (tmp_path / name).write_bytes((models / name).read_bytes())
    done = commands_in(tmp_path, block, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("golden: within noise", "golden: exact"))


def test_embedding_survives_keras(models: Path) -> None:
    """Keras loads a model that carries a fingerprint, with the same outputs."""
    import envcheck as product
    from tests.embedding.test_embedding import TRAIN

    model = models / "carrying.keras"
    model.write_bytes((models / "model.keras").read_bytes())
    given = np.ones((2, 12, 12, 3), "float32")
    before = keras.saving.load_model(model).predict(given, verbose=0)
    product.embed(model, TRAIN)
    after = keras.saving.load_model(model).predict(given, verbose=0)

    assert product.extract(model).facts == TRAIN.facts
    assert before.tobytes() == after.tobytes()


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_checkpoint_is_embedded_each_time(models: Path) -> None:
    """`ModelCheckpoint` writes a new file each epoch; after each, the embedder puts it in."""
    import envcheck as product
    from envcheck.embedding.saving import Embedder
    from tests.embedding.test_embedding import TRAIN

    model = keras.saving.load_model(models / "model.keras")
    model.compile("adam", "sparse_categorical_crossentropy")
    path = models / "checkpoint.keras"
    embedder, seen = Embedder(TRAIN), []

    class After(keras.callbacks.Callback):  # type: ignore[misc,name-defined]
        def on_epoch_end(self, epoch: int, logs: object = None) -> None:
            seen.append(embedder.after_save(path).problem)

    given, labels = np.ones((8, 12, 12, 3), "float32"), np.zeros(8, "int64")
    callbacks = [keras.callbacks.ModelCheckpoint(path), After()]
    model.fit(given, labels, epochs=2, verbose=0, callbacks=callbacks)

    assert seen == ["", ""]
    assert product.extract(path).facts == TRAIN.facts
    again = keras.saving.load_model(path)
    assert np.array_equal(again.predict(given, verbose=0), model.predict(given, verbose=0))
