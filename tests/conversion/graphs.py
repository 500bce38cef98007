"""A small reference and candidate made by hand, without TensorFlow.

The reference is four calls on an input of shape (2, 6): `first` = x W1, `act` = relu, `second` =
act W2, `out` = second + act; the candidate is the same as an ONNX file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.alignment import Match
from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.layouts import IDENTITY
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import Store
from envcheck.conversion.tracing import Comparison

if TYPE_CHECKING:
    from pathlib import Path

TOLERANCE = 2e-5


class Weights:
    """The weights of the reference, from a fixed seed."""

    def __init__(self) -> None:
        import numpy as np

        generator = np.random.default_rng(7)
        self.first = generator.standard_normal((6, 6)).astype("float32")
        self.second = generator.standard_normal((6, 6)).astype("float32")
        self.x = generator.standard_normal((2, 6)).astype("float32")


def reference(weights: Weights) -> Recording:
    """Return the recording of the reference."""
    import numpy as np

    recording = Recording(store=Store(), input_names=("x",))
    first = weights.x @ weights.first
    act = np.maximum(first, 0)
    second = act @ weights.second
    values = {"first": first, "act": act, "second": second, "out": second + act}
    reads = {"first": [INPUT], "act": [0], "second": [1], "out": [2, 1]}
    recording.store.put(Port(INPUT).key, weights.x)
    for number, (name, value) in enumerate(values.items()):
        recording.calls.append(
            Call(
                id=number,
                path=name,
                layer_class=name.title(),
                index=0,
                inputs=tuple(Port(source) for source in reads[name]),
                outputs=(Port(number),),
                within=None,
                weighted=name in ("first", "second"),
            )
        )
        recording.layers[number] = None
        recording.store.put(Port(number).key, value)
    recording.outputs = (Port(3),)
    recording.output_names = ("out",)
    return recording


def candidate(path: Path, weights: Weights, *, relu: str = "Relu", scramble: bool = True) -> str:
    """Write the candidate and return its path; `relu` may be another operator."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    n = (lambda name: f"t{abs(hash(name)) % 10**6}") if scramble else (lambda name: name)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], [n("first")], name="n1"),
        helper.make_node(relu, [n("first")], [n("act")], name="n2"),
        helper.make_node("MatMul", [n("act"), "w2"], [n("second")], name="n3"),
        helper.make_node("Add", [n("second"), n("act")], ["y"], name="n4"),
    ]
    graph = helper.make_graph(
        nodes,
        "hand-made",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 6])],
        [
            numpy_helper.from_array(weights.first, "w1"),
            numpy_helper.from_array(weights.second, "w2"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)


def compared(path: str, weights: Weights, recording: Recording | None = None) -> Comparison:
    """Return the aligned comparison of the reference with a candidate file."""
    opened: Any = open_file(path, Settings(threads=1))
    store = Store()
    feeds = {"x": weights.x}
    opened.run_all(feeds, store)
    comparison = Comparison(
        recording=recording or reference(weights),
        candidate=opened,
        store=store,
        feeds=feeds,
        outputs=("y",),
        tolerance=lambda _: TOLERANCE,
        input_matches={Port(INPUT): Match(tensor="x", layout=IDENTITY, error=0.0)},
    )
    comparison.align()
    return comparison
