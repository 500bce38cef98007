"""Clean conversions are clean, planted faults are found, on real Keras models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("tf2onnx", reason="needs the keras extra")
pytest.importorskip("onnxruntime", reason="needs the keras extra")

from benchmarks.parity.zoo import LARGE, SMALL

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_clean_conversions(name: str, tmp_path: Path) -> None:
    """Every call is accounted for and none is at fault, also with all names stripped."""
    from benchmarks.parity.rounds import compare, convert_here, renamed
    from benchmarks.parity.zoo import build

    model, path, bare = build(name), str(tmp_path / "m.onnx"), str(tmp_path / "s.onnx")
    inputs = convert_here(model, path)
    renamed(path, bare)
    for file in (path, bare):
        found = compare(model, file, inputs)
        total = sum(found.coverage.values())

        assert found.verdict == "match"
        assert found.culprits == []
        assert found.coverage["open"] <= 0.01 * total


@pytest.mark.parametrize("name", ["mlp", "residual", "transformer", "lstm", "unet", "siamese"])
def test_faults_in_keras_models(name: str) -> None:
    """The layer that was edited before the conversion is named first."""
    from benchmarks.parity.rounds import keras_round

    score = keras_round([name], range(100, 103))

    assert score.misses == []


@pytest.mark.parametrize("name", ["cnn", "transformer", "autoencoder"])
def test_faults_in_graphs(name: str) -> None:
    """The layer whose node was edited is named first."""
    from benchmarks.parity.rounds import graph_round

    score = graph_round([name], range(100, 105))

    assert score.hits >= score.total - 1
