"""A Keras model recorded under TensorFlow and replayed elsewhere."""

from __future__ import annotations

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
import sys, keras
keras.utils.set_random_seed(3)
model = keras.Sequential([
    keras.Input((12, 12, 3)), keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.BatchNormalization(), keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(5, activation="softmax")])
model.save(sys.argv[1])
model(__import__("numpy").zeros((1, 12, 12, 3), "float32"))
model.export(sys.argv[2], format="onnx")
weights = model.get_weights(); weights[0][1, 1, 1, 1] += 0.05; model.set_weights(weights)
model.save(sys.argv[3])
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
    """Return a folder with a model, its conversion, and a perturbed copy."""
    folder = tmp_path_factory.mktemp("keras")
    names = ["model.keras", "model.onnx", "wrong.keras"]
    done = subprocess.run(
        [sys.executable, "-c", MAKE, *names], cwd=folder, capture_output=True, text=True,
        timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def run(folder: Path, *arguments: str, **environ: str) -> Any:
    """Run `envcheck golden`, which loads TensorFlow and so takes its time."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore", **environ}
    done = envcheck("golden", *arguments, cwd=folder, environ=quiet)
    assert done.returncode in (0, 1), done.stderr
    return done


@pytest.fixture(scope="module")
def recorded(models: Path) -> Path:
    """Return the folder with a recording in it."""
    done = run(models, "record", "model.keras", "-o", "model.golden", TF_ENABLE_ONEDNN_OPTS="1")
    assert "double precision" in done.stderr
    assert "one at a time" in done.stderr
    return models


def test_the_conversion_is_within_noise(recorded: Path) -> None:
    """ONNX Runtime computes what TensorFlow recorded, but for rounding."""
    done = run(recorded, "replay", "model.onnx", "--golden", "model.golden")

    assert done.stdout.startswith(("golden: within noise", "golden: exact")), done.stdout
    assert "recorded under keras" in done.stdout
    assert "replayed under onnxruntime" in done.stdout


def test_other_kernels_are_within_noise(recorded: Path) -> None:
    """Without oneDNN the rounding differs, and its size is told."""
    done = run(
        recorded, "replay", "model.keras", "--golden", "model.golden", TF_ENABLE_ONEDNN_OPTS="0"
    )

    assert done.returncode == 0
    assert done.stdout.startswith(("golden: within noise", "golden: exact")), done.stdout


def test_one_wrong_weight(recorded: Path) -> None:
    """One of 357 weights that is off by 0.05 is drift."""
    done = run(recorded, "replay", "wrong.keras", "--golden", "model.golden")

    assert (done.returncode, done.stdout.partition(" in ")[0]) == (1, "golden: drift")


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
