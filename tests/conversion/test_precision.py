"""Candidates of lower precision throughout: told as such, and no cover for a fault beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tf2onnx", reason="needs the keras extra")
pytest.importorskip("onnxruntime", reason="needs the keras extra")

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.conversion.investigation import Investigation

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAMES = ["mlp", "cnn", "residual", "transformer", "lstm", "gru", "unet", "squeeze_excite"]
"""The graphs of the GRU, the U-Net and others come out of the float16 converter in an order that
is not that of execution."""


def converted(name: str, folder: Path) -> tuple[Any, str, tuple[str, ...]]:
    """Return a model, its conversion, and the names of the inputs."""
    from benchmarks.parity.rounds import convert_here
    from benchmarks.parity.zoo import build

    model, path = build(name), str(folder / "clean.onnx")
    return model, path, convert_here(model, path)


def halved(path: str, target: Path) -> str:
    """Convert an ONNX file to float16 with ONNX Runtime's own converter."""
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(path), keep_io_types=True), target)
    return str(target)


def quantised(path: str, target: Path) -> str:
    """Quantise the weights of an ONNX file, and its activations as they come, to 8 bits."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(path, target)
    return str(target)


def scaled(path: str, name: str) -> None:
    """Multiply the kernel whose name holds a layer's by 1.3."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    (item,) = [i for i in model.graph.initializer if f"/{name}_" in i.name and len(i.dims) >= 2]
    value = numpy_helper.to_array(item) * 1.3
    item.CopyFrom(numpy_helper.from_array(value.astype("float32"), item.name))
    onnx.save(model, path)


def faults(found: Investigation) -> list[tuple[str, ...]]:
    """Return the layers of each fault."""
    from envcheck.conversion.faults import faults_of

    return [fault.layers for fault in faults_of(found)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("change", "dtype"), [(halved, "float16"), (quantised, "int8")])
def test_lower_precision_is_told(name: str, change: Any, dtype: str, tmp_path: Path) -> None:
    """The verdict is `precision`, with the type, and no layer is at fault."""
    from benchmarks.parity.rounds import compare

    model, path, inputs = converted(name, tmp_path)
    found = compare(model, change(path, tmp_path / "low.onnx"), inputs)

    assert found.verdict == "precision"
    assert found.precision is not None
    assert found.precision.dtype == dtype
    assert found.culprits == []


@pytest.mark.parametrize(("change", "dtype"), [(halved, "float16"), (quantised, "int8")])
@pytest.mark.parametrize(("name", "layer"), [("cnn", "conv2d_1"), ("mlp", "dense_1")])
def test_a_fault_beside_it_is_named(
    name: str, layer: str, change: Any, dtype: str, tmp_path: Path
) -> None:
    """A kernel that is 30 % too large is no rounding: its layer is named, and no other."""
    from benchmarks.parity.rounds import compare

    model, path, inputs = converted(name, tmp_path)
    scaled(path, layer)
    found = compare(model, change(path, tmp_path / "low.onnx"), inputs)

    assert found.verdict == "mismatch"
    assert faults(found) == [(layer,)]
    assert found.precision is not None
    assert found.precision.dtype == dtype
