# ruff: noqa: N803, N806 - L is what Keras examples call the layers
"""Public reports of conversion faults, each as its smallest architecture, with today's verdict.

The numbers are those of the issue trackers: T tensorflow-onnx, K keras-onnx, O onnxruntime,
M onnxmltools, X onnx, R keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tf2onnx", reason="needs the keras extra")
pytest.importorskip("onnxruntime", reason="needs the keras extra")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _layers() -> Any:
    from keras import layers

    return layers


def _chain(shape: tuple[int | None, ...], *layers: Any, dtype: str = "float32") -> Any:
    import keras

    return keras.Sequential([keras.Input(shape, dtype=dtype), *layers])


def _tiled(L: Any) -> Any:
    import keras

    inputs = keras.Input((6, 5, 4))
    pooled = L.GlobalAveragePooling2D(keepdims=True)(inputs)
    tiled = keras.ops.tile(pooled, [1, 6, 5, 1])
    return keras.Model(inputs, L.Conv2D(3, 1)(L.Concatenate()([inputs, tiled])))


def _yolo(L: Any) -> Any:
    import keras

    inputs = keras.Input((16, 12, 3))
    x = L.LeakyReLU()(L.BatchNormalization()(L.Conv2D(4, 3, padding="same")(inputs)))
    deep = L.Conv2D(8, 3, padding="same")(L.MaxPooling2D()(x))
    s = keras.ops.reshape(x, (-1, 8, 2, 6, 2, 4))
    s = keras.ops.reshape(keras.ops.transpose(s, (0, 1, 3, 2, 4, 5)), (-1, 8, 6, 16))
    return keras.Model(inputs, L.Conv2D(5, 1)(L.Concatenate()([deep, s])))


def _stateful_gru(L: Any) -> Any:
    import keras

    inputs, state = keras.Input((5, 4)), keras.Input((6,))
    return keras.Model([inputs, state], L.GRU(6)(inputs, initial_state=state))


REPORTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "T2463 exact GELU": (lambda L: _chain((8,), L.Dense(6, activation="gelu")), "load-fail"),
    "T2448 Sequential Conv2D": (lambda L: _chain((12, 10, 3), L.Conv2D(4, 3)), "match"),
    "R21346 RandomFlip": (lambda L: _chain((12, 10, 3), L.RandomFlip(), L.Conv2D(4, 3)), "match"),
    "T1871 masked embedding": (
        lambda L: _chain((7,), L.Embedding(20, 6, mask_zero=True), L.LSTM(5), dtype="int32"),
        "match",
    ),
    "T1903 BN on axis -2": (
        lambda L: _chain((12, 10, 3), L.Conv2D(4, 3, strides=2), L.BatchNormalization(axis=-2)),
        "match",
    ),
    "X2881 go_backwards": (
        lambda L: _chain((6, 4), L.LSTM(5, go_backwards=True, return_sequences=True)), "match",
    ),
    "K555 transposed convolution": (
        lambda L: _chain((6, 5, 4), L.Conv2DTranspose(3, 4, strides=2, padding="same",
                         use_bias=False), L.BatchNormalization(), L.ReLU()), "match",
    ),
    "O6067 unknown height": (
        lambda L: _chain((None, None, 3), L.Conv2DTranspose(4, 3, strides=2, padding="same")),
        "match",
    ),
    "T1867 IntegerLookup": (
        lambda L: _chain((4,), L.IntegerLookup(vocabulary=[3, 5, 7]), L.Embedding(9, 3),
                         dtype="int64"), "load-fail",
    ),
    "T1867 Discretization": (
        lambda L: _chain((4,), L.Discretization([0.0, 1.0]), L.Embedding(4, 3)), "load-fail",
    ),
    "R16348 LSTM 49x50": (lambda L: _chain((49, 50), L.LSTM(100)), "match"),
    "T1175 LayerNormalization": (
        lambda L: _chain((10, 8, 3), L.Conv2D(4, 3), L.LayerNormalization(), L.LeakyReLU()),
        "match",
    ),
    "O12302 bicubic": (
        lambda L: _chain((12, 10, 3), L.Resizing(17, 15, interpolation="bicubic")), "mismatch",
    ),
    "T1046 SAME with dilation": (
        lambda L: _chain((11, 13, 3), L.Conv2D(4, 3, dilation_rate=2, padding="same")), "match",
    ),
    "T1104 mixed_float16": (
        lambda L: _chain((12, 10, 3), L.Conv2D(8, 3, dtype="mixed_float16")), "precision",
    ),
    "T939 GRU with a state": (_stateful_gru, "match"),
    "T2412 tile": (_tiled, "match"),
    "K84 tiny YOLO": (_yolo, "match"),
    "K386 Masking": (lambda L: _chain((6, 4), L.Masking(), L.LSTM(5)), "match"),
    "O20540 global pooling": (
        lambda L: _chain((12, 10, 3), L.Conv2D(4, 3), L.GlobalAveragePooling2D()), "match",
    ),
    "R8638 Dense": (lambda L: _chain((8,), L.Dense(4)), "match"),
    "K281 small classifier": (
        lambda L: _chain((12, 10, 1), L.Conv2D(4, 3, activation="relu"), L.Flatten(),
                         L.Dense(10, activation="softmax")), "match",
    ),
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
def test_report(report: str, tmp_path: Path) -> None:
    """The verdict on the report's architecture is today's."""
    from benchmarks.parity.rounds import compare, convert_here
    from benchmarks.parity.zoo import randomise

    maker, verdict = REPORTS[report]
    model = randomise(maker(_layers()))
    path = str(tmp_path / "m.onnx")
    found = compare(model, path, convert_here(model, path))

    assert found.verdict == verdict
    if verdict == "load-fail":
        assert found.failing_layer in {layer.name for layer in model.layers}


def test_text_vectorisation(tmp_path: Path) -> None:
    """T1886: a table of words becomes a file that does not load."""
    from benchmarks.parity.rounds import compare, convert_here

    L = _layers()
    model = _chain((1,), L.StringLookup(vocabulary=["a", "b"]), L.Embedding(4, 3), dtype="string")
    path = str(tmp_path / "m.onnx")
    found = compare(model, path, convert_here(model, path))

    assert found.verdict == "load-fail"


def test_half_precision_file(tmp_path: Path) -> None:
    """M446: a converted file with float16 weights is of lower precision, with no layer at fault."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    from benchmarks.parity.rounds import compare, convert_here
    from benchmarks.parity.zoo import build

    model, path = build("residual"), str(tmp_path / "m.onnx")
    names = convert_here(model, path)
    proto = onnx.load(path)
    for item in proto.graph.initializer:
        value = numpy_helper.to_array(item)
        if value.dtype == np.float32 and value.size > 8:
            half = value.astype(np.float16).astype(np.float32)
            item.CopyFrom(numpy_helper.from_array(half, item.name))
    onnx.save(proto, path)
    found = compare(model, path, names)

    assert found.verdict == "precision"
    assert found.culprits == []


def test_loaded_models_convert(tmp_path: Path) -> None:
    """K279: a model that was loaded and never called converts."""
    import keras

    from benchmarks.parity.rounds import compare, convert_here
    from benchmarks.parity.zoo import build

    build("cnn").save(tmp_path / "m.keras")
    model, path = keras.saving.load_model(tmp_path / "m.keras"), str(tmp_path / "m.onnx")

    assert compare(model, path, convert_here(model, path)).verdict == "match"


def test_failed_passes_are_told() -> None:
    """T1729: an optimiser that crashed leaves a line in the log, which is read."""
    from envcheck.conversion.complaints import read_log

    (found,) = read_log(["Failed to apply transpose_optimizer"])

    assert found.kind == "pass"
