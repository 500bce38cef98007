"""What the messages of Keras 3.15 and TensorFlow 2.21 mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envcheck.localisation.analysing import build_training_graph
from envcheck.localisation.facts.failures import failure_of
from envcheck.localisation.training_log import parse_log


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (
            (
                "Arguments `target` and `output` must have the same rank (ndim). "
                "Received: target.shape=(32,), output.shape=(32, 4)"
            ),
            "labelsAgainstOutput",
        ),
        (
            (
                "Argument `output` must have rank (ndim) `target.ndim - 1`. "
                "Received: target.shape=(32, 4), output.shape=(32, 4)"
            ),
            "labelsAgainstOutput",
        ),
        (
            (
                "Graph execution error:\n\nDetected at node compile_loss/sparse_categorical_"
                "crossentropy/SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCross"
            ),
            "labelOutOfRange",
        ),
        ("Computed output size would be zero or negative. Received `inputs", "windowTooLarge"),
        ("Data cardinality is ambiguous. Make sure all arrays contain", "cardinality"),
        ("Invalid dtype: object", "textInput"),
        ("Invalid dtype: str32", "textInput"),
        ("could not convert string to float: 'red'", "textInput"),
        ("No loss to compute. Provide a `loss` argument in `compile()`.", "noLoss"),
        ("You must call `compile()` before using the model.", "noLoss"),
        ("None values not supported.", "noneOutput"),
        ("No gradients provided for any variable.", "noGradients"),
        (
            "Dimensions must be equal, but are 3 and 2 for '{{node compile_loss/mse/sub}} = Sub",
            "lossAgainstOutput",
        ),
        ("'acc'", "unexplained"),
        ("", "unexplained"),
    ],
)
def test_messages(message: str, kind: str) -> None:
    """Each message has its kind."""
    assert failure_of(message) == kind


def test_layer_and_shapes() -> None:
    """The message of a layer that cannot take its input names the layer and both shapes."""
    message = (
        "Exception encountered when calling Sequential.call().\n\n\x1b[1mInput 0 with name 'None' "
        "of layer 'dense_8' is incompatible with the layer: expected axis -1 of input shape to "
        "have value 9, but received input with shape (32, 8)\x1b[0m\n"
    )
    program: dict[str, Any] = {
        "exception": {"type": "ValueError", "message": message, "site": None, "chain": []}
    }
    log = {"schema": "envcheck.training/1", "recorded": True, "program": program}
    graph, _ = build_training_graph(parse_log(json.dumps(log)))

    assert graph.base.matching("ec:failingLayer") == [("run:program", '"dense_8')]
    assert graph.base.matching("ec:receivedShape") == [("run:program", '"(32, 8)')]
    assert graph.base.matching("ec:wantedShape") == [
        ("run:program", '"axis -1 of input shape to have value 9')
    ]


def test_an_interrupted_run_has_not_failed() -> None:
    """Ctrl-C is no fault of the program."""
    program = {"interrupted": "ctrl-c", "exception": {"type": "KeyboardInterrupt", "message": ""}}
    log = {"schema": "envcheck.training/1", "recorded": True, "program": program}
    graph, _ = build_training_graph(parse_log(json.dumps(log)))

    assert graph.base.matching("ec:failure") == []
    assert graph.base.matching("ec:ended") == [("run:program", "ec:withoutError")]
