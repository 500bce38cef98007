"""The noise floor: float64 where it can be had, else the spread of the model's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tf2onnx", reason="needs the keras extra")
pytest.importorskip("onnxruntime", reason="needs the keras extra")

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _offset_model() -> Any:
    """Return a model that no float64 twin can be built of, and that amplifies rounding.

    Its first layer adds 3000 in a lambda, which has no configuration; the normalisation takes the
    offset off again, and with it about three digits.
    """
    import keras

    keras.utils.set_random_seed(4)
    inputs = keras.Input((24,))
    lifted = keras.layers.Dense(48, activation=lambda x: x + 3000.0, name="lifted")(inputs)
    normal = keras.layers.GroupNormalization(4, name="normal")(lifted)
    return keras.Model(inputs, keras.layers.Dense(4, name="head")(normal))


def _compare(model: Any, path: str, names: Any, noise: str) -> Any:
    from envcheck.conversion.inputs import specs_of
    from envcheck.conversion.inventing import invent
    from envcheck.conversion.investigation import Options, investigate
    from envcheck.conversion.runtimes.discovery import open_file
    from envcheck.conversion.runtimes.protocol import Settings

    samples = invent(model, *specs_of(model))
    candidate = open_file(path, Settings(threads=1))
    return investigate(model, candidate, samples, Options(noise=noise), names=names)


def test_an_ill_conditioned_model_without_a_twin_is_clean(tmp_path: Path) -> None:
    """The fixed guess blames the normalisation; the spread shows that it is rounding."""
    from benchmarks.parity.rounds import convert_here

    model, path = _offset_model(), str(tmp_path / "m.onnx")
    names = convert_here(model, path)
    guessed = _compare(model, path, names, "off")
    found = _compare(model, path, names, "float64")

    assert guessed.verdict not in ("match", "noise")
    assert found.noise.method == "spread"
    assert "ambda" in found.noise.reason or "serial" in found.noise.reason.lower()
    assert found.verdict in ("match", "noise")
    assert found.culprits == []
    noise = {call.path: found.noise.of(call.outputs[0]) for call in found.recording.calls}
    assert noise["normal"] > 10 * noise["lifted"]


def test_the_spread_leaves_the_model_alone_and_sees_faults(tmp_path: Path) -> None:
    """Outputs and weights are the same afterwards; a half-precision kernel is still a fault."""
    import numpy as np

    from benchmarks.parity.mutants import KERAS_FAULTS
    from benchmarks.parity.rounds import convert_here
    from benchmarks.parity.zoo import build

    model, path = build("residual"), str(tmp_path / "m.onnx")
    wrong = KERAS_FAULTS["rounded"](model, "conv2d_1", np.random.default_rng(0))
    x = np.random.default_rng(2).standard_normal((2, 16, 12, 3)).astype("float32")
    before = [np.array(model(x)), *model.get_weights()]
    found = _compare(model, path, convert_here(wrong, path), "spread")
    after = [np.array(model(x)), *model.get_weights()]

    assert found.noise.method == "spread"
    assert "conv2d_1" in [found.recording.calls[n].path for n in found.culprits[0].calls]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_the_report_says_which_floor_was_used(tmp_path: Path) -> None:
    """A note names the floor and why it is not float64; the JSON holds the method."""
    from envcheck import parity

    report = parity(_offset_model())

    assert report.parity is not None
    assert report.parity["noise"]["method"] == "spread"
    assert any("spread of the reference's own runs" in note for note in report.notes)
