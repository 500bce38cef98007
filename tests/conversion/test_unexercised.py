"""A changed weight that no sample reads is reported, from the weights alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("onnxruntime", reason="needs the onnx extra")
pytest.importorskip("onnx", reason="needs the onnx extra")

from envcheck.conversion.unexercised import hidden_changes
from tests.conversion.graphs import Weights, candidate, compared, reference

if TYPE_CHECKING:
    from pathlib import Path


def _layer(name: str, value: Any) -> Any:
    weight = SimpleNamespace(path=f"{name}/kernel", numpy=lambda: value)
    return SimpleNamespace(name=name, weights=[weight])


def _compared(path: Path, weights: Weights, changed: Weights) -> Any:
    recording = reference(weights)
    recording.layers[0] = _layer("first", weights.first)
    recording.layers[2] = _layer("second", weights.second)
    return compared(candidate(path, changed), weights, recording)


def test_a_weight_that_no_sample_reads(tmp_path: Path) -> None:
    """The fifth input is zero for all samples, so a change in its row shows in no value."""
    weights, changed = Weights(), Weights()
    weights.x[:, 4] = changed.x[:, 4] = 0
    changed.first[4, 2] += 1
    comparison = _compared(tmp_path / "m.onnx", weights, changed)
    (hidden,) = hidden_changes(comparison)

    assert set(comparison.kinds.values()) == {"exact"}
    assert hidden.call == 0
    assert hidden.cause.kind == "weight-elements"
    assert "1 of 36 elements of weight first/kernel differ: [4, 2] is" in hidden.cause.text


def test_rows_that_no_sample_reads_up_to_half(tmp_path: Path) -> None:
    """Half of the rows are changed, and the count is told."""
    weights, changed = Weights(), Weights()
    weights.x[:, 3:] = changed.x[:, 3:] = 0
    changed.first[3:] += 1
    (hidden,) = hidden_changes(_compared(tmp_path / "m.onnx", weights, changed))

    assert "18 of 36 elements" in hidden.cause.text
    assert "and 14 more" in hidden.cause.text


def test_equal_weights_give_nothing(tmp_path: Path) -> None:
    """The clean candidate holds both kernels."""
    weights = Weights()

    assert hidden_changes(_compared(tmp_path / "m.onnx", weights, weights)) == []


def test_a_fault_that_shows_is_not_told_twice(tmp_path: Path) -> None:
    """A call that is open is left to the search for faults."""
    weights, changed = Weights(), Weights()
    changed.second[0, 0] += 1
    comparison = _compared(tmp_path / "m.onnx", weights, changed)

    assert comparison.kinds[2] == "open"
    assert hidden_changes(comparison) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_hidden_changes_of_real_conversions(tmp_path: Path) -> None:
    """A row of an embedding, and a channel of a folded kernel behind a zero, are named."""
    keras = pytest.importorskip("keras", reason="needs the keras extra")
    import numpy as np

    import envcheck
    from benchmarks.parity.rounds import convert_here

    keras.utils.set_random_seed(3)
    inputs = keras.Input((6, 5, 3))
    convolved = keras.layers.Conv2D(4, 3, name="conv")(inputs)
    normal = keras.layers.BatchNormalization(name="norm")(convolved)
    model = keras.Model(inputs, keras.layers.Flatten()(normal))
    drawn = np.random.default_rng(0)
    norm = model.get_layer("norm")
    norm.set_weights([drawn.uniform(0.5, 1.5, w.shape) for w in norm.get_weights()])
    words = keras.Sequential(
        [keras.Input((7,), dtype="int32"), keras.layers.Embedding(50, 6, name="words")]
    )
    images = np.random.default_rng(1).standard_normal((3, 6, 5, 3)).astype("float32")
    images[..., 2] = 0
    cases = [
        (model, "conv", (0, 0, 2, 1), images),
        (words, "words", (33, 2), np.arange(21, dtype="int32").reshape(3, 7)),
    ]
    for clean, name, place, samples in cases:
        path = str(tmp_path / f"{name}.onnx")
        convert_here(clean, path)
        assert envcheck.parity(clean, path, inputs=samples).parity["verdict"] == "match"  # type: ignore[index]
        wrong = keras.models.clone_model(clean)
        wrong.set_weights(clean.get_weights())
        weight = wrong.get_layer(name).get_weights()
        weight[0][place] += 1
        wrong.get_layer(name).set_weights(weight)
        convert_here(wrong, path)
        report = envcheck.parity(clean, path, inputs=samples)

        assert [finding.rule for finding in report.findings] == ["CNV011"]
        assert report.findings[0].location.layer == name
        assert "1 of " in report.findings[0].title
        assert report.verdict == "conforms"
