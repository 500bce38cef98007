"""Two faults whose values meet in one layer are both named, and the layer is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("numpy", reason="needs the onnx extra")
pytest.importorskip("onnxruntime", reason="needs the onnx extra")
pytest.importorskip("onnx", reason="needs the onnx extra")

import numpy as np
import onnx

from envcheck.conversion.alignment import Match
from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.graphs import Graph
from envcheck.conversion.layouts import IDENTITY
from envcheck.conversion.localisation import localise_faults
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import Store
from envcheck.conversion.tracing import Comparison

if TYPE_CHECKING:
    from pathlib import Path

GENERATOR = np.random.default_rng(5)
X, LEFT, RIGHT = (
    GENERATOR.standard_normal(shape).astype("float32") for shape in ((3, 6), (6, 4), (6, 4))
)
READS = {"left": [INPUT], "right": [INPUT], "product": [0, 1], "sum": [2, 0], "out": [3, 1]}


def values(left: Any, right: Any) -> list[Any]:
    """Return what the layers give: out = left right + left - right, elementwise."""
    a, b = X @ left, X @ right
    return [a, b, a * b, a * b + a, a * b + a - b]


def recorded() -> Recording:
    """Return the recording of the reference."""
    recording = Recording(store=Store(), input_names=("x",), output_names=("out",))
    recording.store.put(Port(INPUT).key, X)
    for number, (name, value) in enumerate(zip(READS, values(LEFT, RIGHT), strict=True)):
        recording.calls.append(
            Call(
                id=number, path=name, layer_class=name.title(), index=0, within=None,
                inputs=tuple(Port(source) for source in READS[name]), outputs=(Port(number),),
            )
        )  # fmt: skip
        recording.layers[number] = None
        recording.store.put(Port(number).key, value)
    recording.outputs = (Port(4),)
    return recording


def written(path: Path, left: Any, right: Any, *, reverse: bool = False) -> str:
    """Write the candidate; with `reverse`, its nodes stand in the opposite order."""
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="n1"),
        helper.make_node("MatMul", ["x", "w2"], ["b"], name="n2"),
        helper.make_node("Mul", ["a", "b"], ["c"], name="n3"),
        helper.make_node("Add", ["c", "a"], ["d"], name="n4"),
        helper.make_node("Sub", ["d", "b"], ["y"], name="n5"),
    ]
    graph = helper.make_graph(
        nodes[::-1] if reverse else nodes,
        "hand-made",
        [helper.make_tensor_value_info("x", kinds.FLOAT, [None, 6])],
        [helper.make_tensor_value_info("y", kinds.FLOAT, [None, 4])],
        [onnx.numpy_helper.from_array(w, name) for name, w in (("w1", left), ("w2", right))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)


def named(path: str) -> list[str]:
    """Return the layers that are at fault."""
    opened: Any = open_file(path, Settings(threads=1))
    store = Store()
    assert opened.run_all({"x": X}, store).failure is None
    comparison = Comparison(
        recording=recorded(),
        candidate=opened,
        store=store,
        feeds={"x": X},
        outputs=("y",),
        tolerance=lambda _: 2e-5,
        input_matches={Port(INPUT): Match(tensor="x", layout=IDENTITY, error=0.0)},
    )
    comparison.align()
    return [list(READS)[call] for found in localise_faults(comparison) for call in found.calls]


def test_faults_that_meet_are_both_named(tmp_path: Path) -> None:
    """Neither value alone makes the product right; both do."""
    left, right = LEFT.copy(), RIGHT.copy()
    left[1, 2] += 1
    right *= 1.2

    assert named(written(tmp_path / "m.onnx", left, right)) == ["left", "right"]


@pytest.mark.parametrize("reverse", [False, True])
def test_nodes_in_any_order(tmp_path: Path, reverse: bool) -> None:
    """A file whose nodes stand before what they read is compared like any other."""
    left = LEFT.copy()
    left[1, 2] += 1
    path = written(tmp_path / "m.onnx", left, RIGHT, reverse=reverse)

    assert named(path) == ["left"]
    assert named(written(tmp_path / "c.onnx", LEFT, RIGHT, reverse=reverse)) == []
    order = [node.name for node in Graph(onnx.load(path)).nodes]
    assert all(order.index(early) < order.index(late) for early, late in (("n1", "n3"),
               ("n2", "n3"), ("n3", "n4"), ("n4", "n5")))  # fmt: skip
