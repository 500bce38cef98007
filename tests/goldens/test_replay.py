"""Recording and replaying under ONNX Runtime: what is the same, what is noise, what drifted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import envcheck

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

CLASSES = 5


def weights(seed: int = 1) -> dict[str, Any]:
    """Return the weights of a small classifier."""
    generator = np.random.default_rng(seed)
    return {
        "w1": generator.normal(size=(12, 32)).astype("float32"),
        "w2": generator.normal(size=(32, CLASSES)).astype("float32"),
    }


def classifier(path: Path, given: dict[str, Any], *, batch: int | None = None) -> Path:
    """Write an ONNX classifier."""
    helper = onnx.helper
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "w2"], ["l"]),
        helper.make_node("Softmax", ["l"], ["y"], axis=-1),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, [batch, 12])],
        [helper.make_tensor_value_info("y", kind, [batch, CLASSES])],
        [onnx.numpy_helper.from_array(value, name) for name, value in given.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a classifier."""
    return classifier(tmp_path / "model.onnx", weights())


@pytest.fixture
def recorded(model: Path) -> Path:
    """Return a recording of it."""
    import envcheck as product

    path = model.with_name("model.golden")
    product.record_golden(model, path, samples=64)
    return path


def replay(model: Path, golden: Path, **options: Any) -> Any:
    """Replay and return the result."""
    import envcheck as product

    return product.replay_golden(model, golden, **options)


def test_the_same_model_is_exact(model: Path, recorded: Path) -> None:
    """Under the same runtime nothing changed; that the inputs are invented is said."""
    result = replay(model, recorded)

    assert (result.verdict, result.is_fine) == ("exact", True)
    assert "invented" in result.notes[0]


def test_noise_is_measured(recorded: Path) -> None:
    """Repeats, batch, threads and optimisation are each measured and kept."""
    from envcheck.goldens.document import read_golden

    (output,) = read_golden(str(recorded)).outputs
    assert set(output.noise) == {
        "repeated", "one at a time", "in halves", "one thread", "graph not optimised",
    }  # fmt: skip
    assert output.largest_noise < 1e-5


def test_rounding_is_noise(tmp_path: Path, recorded: Path) -> None:
    """Weights that differ in the last bit compute the same within noise, with a size."""
    changed = {name: np.nextafter(value, np.float32(9)) for name, value in weights().items()}
    result = replay(classifier(tmp_path / "other.onnx", changed), recorded)

    assert result.verdict == "noise"
    assert 0 < result.worst[1].error <= result.worst[1].limit


def test_one_wrong_weight_is_drift(tmp_path: Path, recorded: Path) -> None:
    """One weight of 544 that is off by a hundredth is found and sized."""
    changed = weights()
    changed["w1"][3, 7] += np.float32(0.01)
    result = replay(classifier(tmp_path / "other.onnx", changed), recorded)

    assert result.verdict == "drift"
    assert result.worst[1].error > result.worst[1].limit
    assert "relative error" in result.summary


def test_flips_are_counted(tmp_path: Path, recorded: Path) -> None:
    """Another model flips decisions, and they are counted."""
    result = replay(classifier(tmp_path / "other.onnx", weights(2)), recorded)

    assert result.verdict == "drift"
    assert result.worst[1].decisions == 64
    assert result.worst[1].flips > 10


@pytest.mark.slow
def test_quantised_weights_are_drift(model: Path) -> None:
    """An int8 model drifts by a size, its flips are counted, and it keeps the fingerprint."""
    import onnxruntime
    from onnxruntime.quantization import quantize_dynamic

    import envcheck as product
    from tests.embedding.test_embedding import TRAIN

    product.embed(model, TRAIN)
    recorded = model.with_name("many.golden")
    product.record_golden(model, recorded, samples=1024)
    small = model.with_name("int8.onnx")
    quantize_dynamic(str(model), str(small))
    result = replay(small, recorded)

    with np.load(recorded) as arrays:
        feeds = {"x": arrays["input.0"]}
    sessions = [onnxruntime.InferenceSession(str(path)) for path in (model, small)]
    before, after = (session.run(None, feeds)[0].argmax(1) for session in sessions)
    assert (result.verdict, result.worst[1].decisions) == ("drift", 1024)
    assert result.worst[1].flips == (before != after).sum() > 0
    assert product.extract(small).facts == TRAIN.facts


@pytest.mark.slow
def test_optimisation_keeps_the_fingerprint(model: Path) -> None:
    """ONNX Runtime writes the fingerprint into the graph that it optimised, onnx accepts it."""
    import onnxruntime

    import envcheck as product
    from tests.embedding.test_embedding import TRAIN

    product.embed(model, TRAIN)
    onnx.checker.check_model(str(model), full_check=True)
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(model.with_name("optimised.onnx"))
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    assert "envcheck.fingerprint" in session.get_modelmeta().custom_metadata_map
    assert product.extract(model.with_name("optimised.onnx")).facts == TRAIN.facts


def test_a_fixed_batch(tmp_path: Path, recorded: Path) -> None:
    """A model that takes one sample at a time is fed one at a time; seven of 64 is a failure."""
    one = classifier(tmp_path / "one.onnx", weights(), batch=1)
    assert replay(one, recorded).is_fine

    seven = classifier(tmp_path / "seven.onnx", weights(), batch=7)
    result = replay(seven, recorded)
    assert result.verdict == "failed"
    assert "7 samples at a time" in result.problem


def test_what_cannot_run_has_failed(tmp_path: Path, recorded: Path) -> None:
    """A broken file and another interface are results, not crashes."""
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08\x08rubbish")
    assert replay(broken, recorded).problem.startswith("load: ")

    wide = {**weights(), "w2": np.ones((32, 3), "float32")}
    result = replay(classifier(tmp_path / "wide.onnx", wide), recorded)
    assert result.problem.startswith(("interface: ", "run: ", "load: "))


ENTRY = """
import numpy as np
TABLE = {table!r}
def load(raw):
    words = [bytes(row).decode().split() for row in raw["text"]]
    out = np.zeros((len(words), 12), "float32")
    for row, line in enumerate(words):
        for word in line:
            out[row, TABLE.index(word)] += 1
    return out
"""
TABLE = ["cat", "dog", "sat", "mat", "on", "the", "a", "ran", "fast", "slow", "up", "down"]


def test_preprocessing_is_replayed(model: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Another vocabulary order is found in preprocessing, and the model itself is cleared."""
    text = np.array([list(b"the cat sat on a mat"), list(b"a dog ran fast up   ")])
    np.savez(tmp_path / "raw.npz", text=text.astype("uint8"))
    code = tmp_path / "vocabulary.py"
    code.write_text(ENTRY.format(table=TABLE))
    golden = tmp_path / "raw.golden"
    arguments: list[str | Path] = ["golden", "record", model, "--inputs", "raw.npz", "-o", golden]
    done = envcheck(*arguments, "--entry", "vocabulary:load", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    again: list[str | Path] = [
        "golden",
        "replay",
        model,
        "--golden",
        golden,
        "--entry",
        "vocabulary:load",
    ]
    assert envcheck(*again, cwd=tmp_path).stdout.startswith("golden: exact\n")

    code.write_text(ENTRY.format(table=TABLE[::-1]))
    done = envcheck(*again, "--format", "json", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (1, "drift")
    verdicts = {stage: items[0]["verdict"] for stage, items in result["parts"].items()}
    assert verdicts == {"preprocessing": "drift", "model": "exact", "end to end": "drift"}

    done = envcheck(*again[:-2], cwd=tmp_path)
    assert done.returncode == 0
    assert "the preprocessing was not replayed" in done.stdout
    code.write_text("raise SystemExit(9)")
    assert envcheck(*again[:-2], cwd=tmp_path).returncode == 0, "nothing is imported unasked"


def test_the_self_test_replays(model: Path, recorded: Path, tmp_path: Path) -> None:
    """`selftest --golden` passes the recorded model and stops at another."""
    train = tmp_path / "train.json"
    assert envcheck("capture", "--role", "train", "-o", train).returncode == 0
    named: list[str | Path] = ["selftest", "--train", train, "--golden", recorded, "--model"]
    assert envcheck(*named, model).returncode == 0

    other = classifier(tmp_path / "other.onnx", weights(2))
    done = envcheck(*named, other)
    assert done.returncode == 1
    assert '"event": "golden", "verdict": "drift"' in done.stderr


def test_wrong_calls(model: Path, recorded: Path, tmp_path: Path) -> None:
    """What is missing is said, with exit code 2."""
    calls: list[list[str | Path]] = [
        ["record", model],
        ["replay", model],
        ["record", model, "-o", tmp_path / "x", "--entry", "nowhere:f"],
        ["replay", model, "--golden", recorded, "--entry", "no_such_module:f"],
        ["replay", model, "--golden", model],
        ["replay", tmp_path / "none.onnx", "--golden", recorded],
        ["record", model, "-o", tmp_path / "x", "--samples", "0"],
    ]
    for arguments in calls:
        done = envcheck("golden", *arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stderr)
        assert "hint: " in done.stderr
