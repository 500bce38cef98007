"""A candidate that fails at a node: the layer that makes it fail is named, not the one it fails in.

The reference is `first` = x W1, `turned` = first reshaped from (2, 6) to (4, 3), `cut` = its first
two rows, and `out` = cut W2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("onnxruntime", reason="needs the onnx extra")
pytest.importorskip("onnx", reason="needs the onnx extra")

import numpy as np
import onnx

from envcheck.conversion.alignment import Match
from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.layouts import IDENTITY
from envcheck.conversion.localisation import localise_faults
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import Store
from envcheck.conversion.surviving import failing_nodes
from envcheck.conversion.tracing import Comparison

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.conversion.localisation import Culprit

NAMES = ("first", "turned", "cut", "out")
GENERATOR = np.random.default_rng(11)
X, FIRST = (GENERATOR.standard_normal(shape).astype("float32") for shape in ((2, 6), (6, 6)))
LAST = GENERATOR.standard_normal((3, 5)).astype("float32")


def recorded() -> Recording:
    """Return the recording of the reference."""
    first = X @ FIRST
    turned = first.reshape(4, 3)
    values = (first, turned, turned[:2], turned[:2] @ LAST)
    recording = Recording(store=Store(), input_names=("x",), output_names=("out",))
    recording.store.put(Port(INPUT).key, X)
    for number, (name, value) in enumerate(zip(NAMES, values, strict=True)):
        recording.calls.append(
            Call(
                id=number, path=name, layer_class=name.title(), index=0, within=None,
                inputs=(Port(number - 1),), outputs=(Port(number),),
            )
        )  # fmt: skip
        recording.layers[number] = None
        recording.store.put(Port(number).key, value)
    recording.outputs = (Port(3),)
    return recording


def written(path: Path, **changed: Any) -> str:
    """Write the candidate, with other constants or another operator after `first`."""
    helper, kinds = onnx.helper, onnx.TensorProto
    constants = {"w1": FIRST, "shape": [4, 3], "start": [0], "end": [2], "axis": [0], "w2": LAST}
    constants |= {name: value for name, value in changed.items() if name in constants}
    arrays = {name: np.asarray(value) for name, value in constants.items()}
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="n1"),
        changed.get("after", helper.make_node("Identity", ["a"], ["b"], name="n2")),
        helper.make_node("Reshape", ["b", "shape"], ["c"], name="n3"),
        helper.make_node("Slice", ["c", "start", "end", "axis"], ["d"], name="n4"),
        helper.make_node("MatMul", ["d", "w2"], ["y"], name="n5"),
    ]
    graph = helper.make_graph(
        nodes,
        "hand-made",
        [helper.make_tensor_value_info("x", kinds.FLOAT, [None, 6])],
        [helper.make_tensor_value_info("y", kinds.FLOAT, [None, 5])],
        [onnx.numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)


def located(path: str) -> tuple[list[Culprit], Comparison]:
    """Return the culprits of a candidate, and the comparison that they were found in."""
    opened: Any = open_file(path, Settings(threads=1))
    store = Store()
    opened.run_all({"x": X}, store)
    comparison = Comparison(
        recording=recorded(),
        candidate=opened,
        store=store,
        feeds={"x": X},
        outputs=("y",),
        tolerance=lambda _: 2e-5,
        input_matches={Port(INPUT): Match(tensor="x", layout=IDENTITY, error=0.0)},
        failing=failing_nodes(opened, store),
    )
    comparison.align()
    return localise_faults(comparison), comparison


def named(culprits: list[Culprit]) -> list[tuple[str, ...]]:
    """Return the layers of culprits."""
    return [tuple(NAMES[call] for call in culprit.calls) for culprit in culprits]


def test_a_wrong_shape_is_the_fault_of_who_makes_it(tmp_path: Path) -> None:
    """All values are right, (3, 4) is not (4, 3), and only the last product notices."""
    culprits, comparison = located(written(tmp_path / "m.onnx", shape=[3, 4]))

    assert named(culprits) == [("turned",)]
    assert comparison.failing == []
    assert culprits[0].crashes
    assert culprits[0].confirmed
    assert culprits[0].causes[0].text == (
        "it hands on shape [3, 4] instead of [4, 3], on which n5 fails"
    )


def test_a_wrong_slice_is_the_fault_of_who_cuts_it(tmp_path: Path) -> None:
    """Columns in the place of rows are another number of values."""
    culprits, _ = located(written(tmp_path / "m.onnx", axis=[1]))

    assert named(culprits) == [("cut",)]
    assert culprits[0].causes[0].text == (
        "it hands on shape [4, 2] instead of [2, 3], on which n5 fails"
    )


def test_a_wrong_type_is_the_fault_of_who_makes_it(tmp_path: Path) -> None:
    """A cast before a reshape passes it and a slice before it is noticed."""
    cast = onnx.helper.make_node("Cast", ["a"], ["b"], name="n2", to=onnx.TensorProto.DOUBLE)
    culprits, _ = located(written(tmp_path / "m.onnx", after=cast))

    assert culprits[0].causes[0].kind == "type"
    assert culprits[0].causes[0].text == "it hands on float64 instead of float32, on which n5 fails"
    assert named(culprits) == [("turned",)]


def test_who_fails_by_itself_is_named(tmp_path: Path) -> None:
    """Everything before the product is right, so it is its own weight that does not fit."""
    culprits, _ = located(written(tmp_path / "m.onnx", w2=np.ones((2, 5), "float32")))

    assert named(culprits) == [("out",)]
    assert culprits[0].crashes
    assert not culprits[0].confirmed
    assert culprits[0].causes[0].text == "MatMul node n5 fails in it"


def test_a_crash_hides_no_other_fault(tmp_path: Path) -> None:
    """A changed weight before the wrong shape and one behind it are found as well."""
    first, last = FIRST.copy(), LAST.copy()
    first[2, 3] += 1
    last[1, 1] += 1
    culprits, _ = located(written(tmp_path / "m.onnx", w1=first, shape=[3, 4], w2=last))

    assert named(culprits) == [("first",), ("turned",), ("out",)]
    assert [culprit.crashes for culprit in culprits] == [False, True, False]
