"""`envcheck parity` and `envcheck trace` from end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tf2onnx", reason="needs the keras extra")
pytest.importorskip("onnxruntime", reason="needs the keras extra")

from tests.cli.running import envcheck

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, its conversion, one with a fault, and samples."""
    import numpy as np

    from benchmarks.parity.mutants import KERAS_FAULTS
    from benchmarks.parity.rounds import convert_here
    from benchmarks.parity.zoo import build

    made = tmp_path_factory.mktemp("parity")
    model = build("residual")
    model.save(made / "model.keras")
    convert_here(model, str(made / "clean.onnx"))
    wrong = KERAS_FAULTS["element"](model, "conv2d_1", np.random.default_rng(0))
    convert_here(wrong, str(made / "wrong.onnx"))
    generator = np.random.default_rng(1)
    samples = generator.standard_normal((3, 16, 12, 3)).astype("float32")
    np.savez(made / "samples.npz", input_layer=samples)
    return made


def _run(folder: Path, *arguments: str) -> Any:
    return envcheck(*arguments, cwd=folder)


def test_a_fault_is_named(folder: Path) -> None:
    """The report names the layer and the element; the reproduction fails by itself."""
    formats = ("--format", "json=report.json", "--format", "text")
    samples = ("--inputs", "samples.npz")
    done = _run(
        folder, "parity", "model.keras", "wrong.onnx", "--repro", "fault", *samples, *formats
    )
    report = json.loads((folder / "report.json").read_text("utf-8"))
    fault = report["parity"]["faults"][0]

    assert done.returncode == 1
    assert report["findings"][0]["rule"] == "CNV010"
    assert report["findings"][0]["location"]["layer"] == fault["layers"][0]
    assert "conv2d_1" in fault["layers"]
    assert report["parity"]["inputs"]["origin"] == "given"
    assert "conv2d_1" in done.stdout
    alone = subprocess.run(
        [sys.executable, str(folder / "fault" / "reproduce.py")], capture_output=True, text=True
    )
    assert alone.returncode == 1, alone.stderr


def test_a_clean_conversion_conforms(folder: Path) -> None:
    """Without a candidate the model is converted; what was invented is said."""
    done = _run(folder, "parity", "model.keras", "--no-cache")

    assert done.returncode == 0, done.stderr
    assert "these were invented" in done.stdout
    assert done.stderr == ""


def test_traces(folder: Path) -> None:
    """Two traces give the culprit that the models give."""
    for model, name in (("model.keras", "a"), ("wrong.onnx", "b"), ("clean.onnx", "c")):
        done = _run(folder, "trace", model, "--inputs", "samples.npz", "-o", f"{name}.trace")
        assert done.returncode == 0, done.stderr
    wrong = _run(folder, "parity", "a.trace", "b.trace", "--format", "json")
    clean = _run(folder, "parity", "a.trace", "c.trace")

    assert wrong.returncode == 1
    assert "conv2d_1" in json.loads(wrong.stdout)["parity"]["faults"][0]["layers"]
    assert clean.returncode == 0, clean.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.keras"], "does not exist"),
        (["clean.onnx"], "not a Keras model"),
        (["model.keras", "samples.npz"], "no runtime takes this file"),
        (["model.keras", "short.onnx"], "cannot be read as ONNX"),
        (["short.keras"], "cut off"),
        (["lambda.keras"], "--allow-code"),
        (["model.keras", "clean.onnx", "--inputs", "short.onnx"], "cannot be read"),
        (["model.keras", "clean.onnx", "--tolerance", "x"], "--tolerance"),
        (["model.keras", "clean.onnx", "--import", "nowhere.py"], "cannot be imported"),
        (["text.keras"], "text.keras"),
        (["text.h5"], "text.h5"),
        (["empty"], "empty"),
        (["model.keras", "text.onnx"], "cannot be read as ONNX"),
        (["model.keras", "text.tflite"], "text.tflite"),
        (["short.h5"], "short.h5"),
        (["model.keras", "clean.onnx", "--inputs", "nothing.npz"], "does not exist"),
        (["model.keras", "clean.onnx", "--inputs", "names.npz"], "lacks input_layer; has other"),
        (["model.keras", "clean.onnx", "--inputs", "shape.npz"], "has shape (3, 16, 13, 3)"),
        (["model.keras", "clean.onnx", "--inputs", "rank.npz"], "has shape (3, 16)"),
        (["model.keras", "clean.onnx", "--inputs", "dtype.npz"], "has dtype <U1"),
        (["model.keras", "clean.onnx", "--inputs", "nan.npz"], "holds NaN"),
        (["model.keras", "clean.onnx", "--inputs", "none.npz"], "holds no samples"),
        (["model.keras", "clean.onnx", "--inputs", "pickle.npy"], "cannot be read"),
        (["model.keras", "clean.onnx", "--inputs", "damaged.npz"], "damaged.npz"),
        (["refusing.keras", "--import", "refusing.py"], "does not run on these inputs"),
        (["model.keras", "clean.onnx", "--runtime", "nonsense"], "unknown runtime"),
        (["model.keras", "clean.onnx", "--provider", "nonsense"], "no provider"),
        (["model.keras", "clean.onnx", "--memory-limit", "much"], "is no size"),
    ],
)
def test_bad_input(folder: Path, arguments: list[str], words: str) -> None:
    """Each mistake ends with exit code 2 and says what it is."""
    if not (folder / "lambda.keras").exists():
        _write_bad_files(folder)
    done = _run(folder, "parity", *arguments)

    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def _write_bad_files(folder: Path) -> None:
    """Write what is no model, or no inputs of it."""
    import keras
    import numpy as np

    model = keras.saving.load_model(folder / "model.keras")
    model.save(folder / "whole.h5")
    for name, whole in (("onnx", "clean.onnx"), ("keras", "model.keras"), ("h5", "whole.h5")):
        (folder / f"short.{name}").write_bytes((folder / whole).read_bytes()[:2000])
    for name in ("keras", "h5", "onnx", "tflite"):
        (folder / f"text.{name}").write_text("no model at all\n" * 40)
    (folder / "empty").mkdir()
    shape = (3, 16, 12, 3)
    np.savez(folder / "names.npz", other=np.ones(shape, "float32"))
    np.savez(folder / "shape.npz", input_layer=np.ones((3, 16, 13, 3), "float32"))
    np.savez(folder / "rank.npz", input_layer=np.ones((3, 16), "float32"))
    np.savez(folder / "dtype.npz", input_layer=np.full(shape, "a"))
    np.savez(folder / "nan.npz", input_layer=np.full(shape, np.nan, "float32"))
    np.savez(folder / "none.npz", input_layer=np.ones((0, 16, 12, 3), "float32"))
    np.save(folder / "pickle.npy", np.array([{}], dtype=object), allow_pickle=True)
    data = bytearray((folder / "samples.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "damaged.npz").write_bytes(data)
    (folder / "refusing.py").write_text(
        "import keras\n"
        "@keras.saving.register_keras_serializable('mine')\n"
        "class Refusing(keras.layers.Layer):\n"
        "    def call(self, x):\n"
        "        if not hasattr(x, 'numpy'): return x\n"
        "        raise ValueError('not today')\n"
    )
    save = "keras.Sequential([keras.Input((4,)), refusing.Refusing()]).save('refusing.keras')"
    make = [sys.executable, "-c", f"import refusing, keras; {save}"]
    subprocess.run(make, cwd=folder, check=True, capture_output=True)
    chain = [keras.Input((3,)), keras.layers.Lambda(lambda x: x * 2)]
    keras.Sequential(chain).save(folder / "lambda.keras")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("../secret.bin", "outside its own folder"),
        ("{folder}/secret.bin", "outside its own folder"),
        ("link.bin", "outside its own folder"),
        ("missing.bin", "are missing"),
    ],
)
def test_weights_outside_the_folder_are_not_read(
    folder: Path, tmp_path: Path, place: str, words: str
) -> None:
    """External data that leads out of the model's folder, or nowhere, is refused."""
    import onnx
    from onnx.external_data_helper import set_external_data

    (folder / "secret.bin").write_bytes(bytes(1 << 16))
    (tmp_path / "link.bin").symlink_to(folder / "secret.bin")
    model = onnx.load(str(folder / "clean.onnx"))
    weight = max(model.graph.initializer, key=lambda item: len(item.raw_data))
    set_external_data(weight, place.format(folder=folder))
    weight.ClearField("raw_data")
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    done = _run(folder, "parity", "model.keras", str(tmp_path / "m.onnx"))

    assert done.returncode == 2
    assert words in done.stderr


def test_custom_layers(folder: Path) -> None:
    """A model with a custom layer names its class, and compares once the module is imported."""
    (folder / "layers.py").write_text(
        "import keras\n"
        "@keras.saving.register_keras_serializable('mine')\n"
        "class Twice(keras.layers.Layer):\n"
        "    def call(self, x):\n"
        "        return 2 * x\n"
    )
    make = (
        "import keras, layers\n"
        "chain = [keras.Input((4,)), layers.Twice(), keras.layers.Dense(2)]\n"
        "keras.Sequential(chain).save('custom.keras')\n"
    )
    subprocess.run([sys.executable, "-c", make], cwd=folder, check=True, capture_output=True)
    refused = _run(folder, "parity", "custom.keras")
    done = _run(folder, "parity", "custom.keras", "--import", "layers.py")

    assert refused.returncode == 2
    assert "Twice" in refused.stderr
    assert "--import" in refused.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_another_models_candidate(folder: Path) -> None:
    """A candidate of another model is told as such, and is a finding."""
    from benchmarks.parity.rounds import convert_here
    from benchmarks.parity.zoo import build

    convert_here(build("mlp"), str(folder / "other.onnx"))
    done = _run(folder, "parity", "model.keras", "other.onnx")

    assert done.returncode == 1
    assert "belongs to another model" in " ".join(done.stdout.split())


def test_the_helper_for_test_suites(folder: Path) -> None:
    """`assert_parity` passes on a match and fails with the report otherwise."""
    from envcheck.conversion import assert_parity

    model = os.fspath(folder / "model.keras")
    assert_parity(model, folder / "clean.onnx")
    with pytest.raises(AssertionError, match="conv2d_1"):
        assert_parity(model, folder / "wrong.onnx")
