"""Walks over small layer graphs, drawn by hand."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.localisation.facts.composition import add_composition
from envcheck.localisation.facts.wiring import Wiring
from envcheck.localisation.graph import TrainingGraph
from envcheck.localisation.training_log import TrainingLog


def layer(path: str, kind: str, *following: str, **more: Any) -> dict[str, Any]:
    """Return a layer of Keras that hands its signal to the named ones."""
    return {"path": path, "name": path, "class": kind, "module": "keras", "inputs": [],
            "outputs": list(following), "shared": 1, "activation": None, "trainable": True,
            **more}  # fmt: skip


def dense(path: str, units: int, *following: str, activation: str = "linear") -> dict[str, Any]:
    """Return a Dense layer with 16 inputs."""
    return layer(path, "Dense", *following, units=units, activation=activation,
                 input_shape=[None, 16])  # fmt: skip


def wired(*layers: dict[str, Any], output: str = "out") -> Wiring:
    """Return the graph of a model; `inputs` follow from `outputs`."""
    for item in layers:
        for name in item["outputs"]:
            next(other for other in layers if other["path"] == name)["inputs"].append(item["path"])
    model = {"id": "m0", "graph_known": True, "layers": list(layers),
             "outputs": [{"layer": output, "activation": None}]}  # fmt: skip
    return Wiring(model, "models/0")


def facts(wiring: Wiring, predicate: str) -> set[tuple[str, str]]:
    """Return what the composition of a model says."""
    graph = TrainingGraph(TrainingLog({"schema": "envcheck.training/1"}))
    add_composition(graph, wiring)
    return set(graph.base.matching(f"ec:{predicate}"))


@pytest.mark.parametrize(
    ("between", "end", "maximum"),
    [
        (layer("x", "Dropout", "b"), "linear", False),
        (layer("x", "BatchNormalization", "b"), "linear", False),
        (layer("x", "Flatten", "b"), "linear", False),
        (layer("x", "Activation", "b", activation="linear"), "linear", False),
        (layer("x", "MaxPooling2D", "b"), "linear", True),
        (layer("x", "Activation", "b", activation="relu"), "activation", False),
        (layer("x", "LeakyReLU", "b"), "activation", False),
        (layer("x", "LayerNormalization", "b"), "other", False),
        (layer("x", "LSTM", "b"), "other", False),
        (layer("x", "Lambda", "b"), "opaque", False),
        (layer("x", "Mine", "b", module="user"), "opaque", False),
        (layer("x", "Add", "b"), "merge", False),
    ],
)
def test_what_lies_between(between: dict[str, Any], end: str, maximum: bool) -> None:
    """Transparent layers are seen through, all others end the walk."""
    wiring = wired(dense("a", 16, "x"), between, dense("b", 16, "out"), dense("out", 3))
    route = wiring.after("a")

    assert (route.end, route.maximum) == (end, maximum)


def test_a_signal_that_goes_two_ways() -> None:
    """Mean and variance of a latent space: nothing is concluded."""
    wiring = wired(dense("a", 16, "out", "other"), dense("other", 3), dense("out", 3))

    assert wiring.after("a").end == "branches"


def test_two_linear_layers_compose() -> None:
    """The first one is told, with what follows."""
    wiring = wired(dense("a", 32, "b"), dense("b", 16, "out", activation="relu"), dense("out", 3))

    assert facts(wiring, "composesWith") == {("layer:m0/a", "layer:m0/b")}
    assert facts(wiring, "exempt") == set()
    assert facts(wiring, "nonLinearity") == {("model:m0", "ec:present")}


def test_a_narrow_layer_is_exempt() -> None:
    """4 units between 16 and 8: a product of low rank."""
    wiring = wired(dense("a", 4, "b"), dense("b", 8, "out", activation="relu"), dense("out", 3))

    assert facts(wiring, "exempt") == {("layer:m0/a", "ec:narrow")}


def test_a_linear_model() -> None:
    """An activation at the output is no non-linearity of the hidden layers."""
    wiring = wired(
        dense("a", 32, "b"), dense("b", 32, "out"), dense("out", 3, activation="softmax")
    )

    assert facts(wiring, "nonLinearity") == {("model:m0", "ec:absent")}
    assert facts(wiring, "firstLinear") == {("model:m0", "layer:m0/a")}


def test_the_output_is_seen_through_reshaping() -> None:
    """Softmax, then a reshape: the output is a softmax."""
    wiring = wired(
        dense("a", 6, "s"), layer("s", "Softmax", "out"), layer("out", "Reshape"), output="out"
    )

    assert wiring.output_activation(0) == ("softmax", "s")


def test_an_output_of_the_program_is_not_known() -> None:
    """A layer of the program may do anything."""
    wiring = wired(dense("a", 6, "out"), layer("out", "Mine", module="user"))

    assert wiring.output_activation(0)[0] is None


def test_layers_inside_a_layer_of_the_program() -> None:
    """Positions that a layer of the program looks up are no input of the model."""
    wiring = wired(
        layer("in", "InputLayer", "mine"),
        layer("mine", "Mine", "out", module="user"),
        layer("mine/positions", "Embedding"),
        dense("mine/dense", 8),
        dense("out", 3),
    )

    assert list(wiring.entries(None, 0)) == ["mine"]
    assert wiring.parameterised() == ["out"]
