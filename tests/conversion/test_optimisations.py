"""A divergence that the runtime's own optimisations make is tied to a level and a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("onnxruntime", reason="needs the onnx extra")
pytest.importorskip("onnx", reason="needs the onnx extra")

from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.inputs import Samples
from envcheck.conversion.investigation import Investigation
from envcheck.conversion.optimisations import try_levels
from envcheck.conversion.outputs import compare_output
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import Store
from envcheck.conversion.tracing import Comparison

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("convolution", "normalisation", "activation")


def _file(path: Path, mean: float) -> str:
    """Write a convolution whose values lie around `mean`, a normalisation, and a Relu.

    ONNX Runtime folds the normalisation into the convolution from level basic on. With a large
    mean the folded form rounds in other places: the values differ by about 1e-3.
    """
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    generator = np.random.default_rng(0)
    held = {
        "kernel": generator.standard_normal((4, 3, 3, 3)) * 0.1,
        "bias": np.full(4, mean),
        "gamma": generator.uniform(0.5, 1.5, 4),
        "beta": generator.standard_normal(4),
        "mean": np.full(4, mean),
        "variance": generator.uniform(0.5, 1.5, 4),
    }
    normal = ["c", "gamma", "beta", "mean", "variance"]
    nodes = [
        helper.make_node("Conv", ["x", "kernel", "bias"], ["c"], name="convolution"),
        helper.make_node("BatchNormalization", normal, ["n"], name="normalisation"),
        helper.make_node("Relu", ["n"], ["y"], name="activation"),
    ]
    shape = [None, 3, 9, 8]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v.astype("float32"), name) for name, v in held.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)


def _investigated(path: str) -> Investigation:
    """Return a comparison whose reference has the values of the file as it is."""
    import numpy as np

    x = np.random.default_rng(1).standard_normal((2, 3, 9, 8)).astype("float32")
    opened: Any = open_file(path, Settings(threads=1))
    store = Store()
    opened.run_all({"x": x}, store)
    recording = Recording(store=Store(), input_names=("x",))
    recording.store.put(Port(INPUT).key, x)
    for number, (name, tensor) in enumerate(zip(NAMES, "cny", strict=True)):
        call = Call(id=number, path=name, layer_class=name, index=0, inputs=(Port(number - 1),),
                    outputs=(Port(number),), within=None)  # fmt: skip
        recording.calls.append(call)
        recording.layers[number] = None
        recording.store.put(Port(number).key, store.get(tensor))
    recording.outputs, recording.output_names = (Port(2),), ("out",)
    samples = Samples(names=("x",), values=(x,), form="single", origin="given")
    found = Investigation(samples=samples, verdict="match", recording=recording)
    found.comparison = Comparison(
        recording=recording, candidate=opened, store=store, feeds={"x": x}, outputs=("y",),
        tolerance=lambda _: 2e-5,
    )  # fmt: skip
    found.comparison.align()
    value = store.get("y")
    common = {"name": "out", "tensor": "y", "noise": 1e-6, "tolerance": 2e-5}
    found.outputs = [compare_output(value, value, **common)]  # type: ignore[arg-type]
    return found


def test_a_fusion_that_changes_the_outputs_is_named(tmp_path: Path) -> None:
    """Level, optimiser and fused node are those that fold the normalisation."""
    from envcheck.conversion.judgement import findings_of
    from envcheck.conversion.verdicts import judge

    path = _file(tmp_path / "m.onnx", mean=1e4)
    found = _investigated(path)
    found.optimised = try_levels(found, path, Settings(threads=1))
    assert found.optimised is not None
    divergence = found.optimised.divergence

    assert divergence is not None
    assert (divergence.level, divergence.below) == ("basic", "disabled")
    assert divergence.optimiser == "ConvBNFusion"
    assert divergence.node.startswith("Conv")
    assert divergence.tensor == "n"
    assert 2e-5 < divergence.error < 1e-2
    assert judge(found) == "mismatch"
    (finding,) = findings_of(found, [], "m.onnx", None)
    assert finding.rule == "CNV017"
    assert "level basic" in finding.title
    assert "ConvBNFusion" in finding.title


def test_harmless_optimisations_are_a_note(tmp_path: Path) -> None:
    """Around zero the folded form rounds alike; how far the outputs move is told."""
    path = _file(tmp_path / "m.onnx", mean=0.0)
    found = _investigated(path)
    optimised = try_levels(found, path, Settings(threads=1))

    assert optimised is not None
    assert optimised.divergence is None
    assert "move the outputs by" in optimised.note
