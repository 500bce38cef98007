# ruff: noqa: E402 - the skip comes before what needs numpy
"""A batch size that was fixed at export, or that changes the results, is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

np: Any = pytest.importorskip("numpy", reason="needs the onnx extra")

from envcheck.conversion.gate import pair_inputs
from envcheck.conversion.inputs import Samples
from envcheck.conversion.runtimes.protocol import Feed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((None, 2, 6), ""),
        ((1, 2, 6), "takes batches of 1 alone, and the reference was run on 3"),
        ((4, 6, 2), "takes batches of 4 alone"),
        ((None, 2, 7), "its input x has shape [?, 2, 7], the reference's x has [3, 2, 6]"),
        ((1, 2, 7), "its input x has shape [1, 2, 7]"),
    ],
)
def test_a_declared_batch_size(shape: tuple[int | None, ...], words: str) -> None:
    """A fixed first axis is called a batch size where the other axes fit, in any layout."""
    candidate: Any = SimpleNamespace(inputs=(Feed(name="x", dtype="float32", shape=shape),))
    values = (np.zeros((3, 2, 6), "float32"),)
    samples = Samples(names=("x",), values=values, form="single", origin="given")
    problems = pair_inputs(candidate, samples).problems

    assert len(problems) == bool(words)
    assert words in " ".join(problems)


def _candidate(path: Path, kind: str, kernel: Any) -> str:
    """Write a flattening and a product, with a batch of three samples baked into it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rows = 3 if kind == "reshape" else -1
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["flat"]),
        helper.make_node("MatMul", ["flat", "kernel"], ["y" if kind != "scaled" else "product"]),
    ]
    held = {"shape": np.array([rows, 12], "int64"), "kernel": kernel}
    if kind == "scaled":  # the mean over samples, multiplied by three
        nodes += [
            helper.make_node("Shape", ["x"], ["sizes"]),
            helper.make_node("Gather", ["sizes", "zero"], ["size"]),
            helper.make_node("Cast", ["size"], ["number"], to=TensorProto.FLOAT),
            helper.make_node("Div", ["product", "number"], ["mean"]),
            helper.make_node("Mul", ["mean", "three"], ["y"]),
        ]
        held |= {"zero": np.array(0, "int64"), "three": np.array(3, "float32")}
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 4])],
        [numpy_helper.from_array(value, name) for name, value in held.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "verdict", "rule", "words"),
    [
        ("free", "match", None, ""),
        ("reshape", "interface", "CNV004", "batches of 3 samples and not of 1 or 5"),
        ("scaled", "mismatch", "CNV016", "on batches of 1 or 5 samples"),
    ],
)
def test_batch_sizes_are_tried(
    tmp_path: Path, kind: str, verdict: str, rule: str | None, words: str
) -> None:
    """On the three samples all candidates agree; on one and five they need not."""
    keras = pytest.importorskip("keras", reason="needs the keras extra")
    import envcheck

    layers = [keras.layers.Flatten(), keras.layers.Dense(4, use_bias=False)]
    model = keras.Sequential([keras.Input((2, 6)), *layers])
    path = _candidate(tmp_path / "m.onnx", kind, model.get_weights()[0])
    report = envcheck.parity(model, path)

    assert report.parity is not None
    assert report.parity["verdict"] == verdict
    assert [finding.rule for finding in report.findings] == ([rule] if rule else [])
    assert words in " ".join(finding.title for finding in report.findings)
    assert all(layer["kind"] != "open" for layer in report.parity["layers"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_batch_size_of_the_reference_is_none_of_the_candidates(tmp_path: Path) -> None:
    """A reference that takes three samples alone is not run on others."""
    keras = pytest.importorskip("keras", reason="needs the keras extra")
    import envcheck

    inputs = keras.Input(batch_shape=(3, 2, 6))
    flat = keras.ops.reshape(inputs, (3, 12))
    model = keras.Model(inputs, keras.layers.Dense(4, use_bias=False)(flat))
    path = _candidate(tmp_path / "m.onnx", "reshape", model.get_weights()[0])
    report = envcheck.parity(model, path)

    assert report.parity is not None
    assert report.parity["verdict"] == "match"
