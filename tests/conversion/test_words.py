"""What needs no package: log reading, names, advice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from envcheck.conversion.causes import ADVICE
from envcheck.conversion.complaints import Complaint, read_log
from envcheck.conversion.naming import layer_in
from envcheck.conversion.rules import RULES
from envcheck.conversion.workarounds import workaround

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "kind", "op", "node"),
    [
        ("Tensorflow op [model/dense/Erfc: Erfc] is not supported", "unsupported", "Erfc",
         "model/dense/Erfc"),
        ("Unsupported ops: Counter({'Erfc': 2})", "unsupported", "Erfc", ""),
        ("Failed to convert node 'm/resize' (fct=<function>)", "failed", "", "m/resize"),
        ("Failed to apply transpose_optimizer", "pass", "", "transpose_optimizer"),
    ],
)  # fmt: skip
def test_complaints_are_read(line: str, kind: str, op: str, node: str) -> None:
    """Each form of complaint gives its kind, operator and node."""
    found = read_log([line, line, "all is well"])

    assert found == [Complaint(kind=kind, op=op, node=node, text=line)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model_1/conv2d_1/Conv2D:0", "conv2d_1"),
        ("model_1/conv2d_1_2/Relu", "conv2d_1"),
        ("model/inner_1/dense_1/MatMul", "inner/dense"),
        ("MatMul__491", ""),
    ],
)
def test_layers_of_nodes(name: str, expected: str) -> None:
    """A node's scope gives the layer, with and without the converter's counters."""
    paths = ["conv2d", "conv2d_1", "inner/dense", "dense"]

    assert layer_in(name, paths) == expected


def test_counters_are_told_from_names() -> None:
    """Where every scope carries a counter, `dense_1` is the layer `dense`."""
    names = ["m_1/dense_1/MatMul", "m_1/dense_1_1/MatMul", "m_1/dense_2_1/MatMul"]
    paths = ["dense", "dense_1", "dense_2"]

    assert [layer_in(name, paths, names) for name in names] == paths


def test_known_operators_have_a_workaround() -> None:
    """A known operator has advice, by name and in a message; an unknown one has none."""
    assert "approximate" in workaround("Erfc")
    assert workaround("", "node Erfc is unknown") == workaround("Erfc")
    assert workaround("Nonsense") == ""


def test_every_rule_is_in_the_index(root: Path) -> None:
    """The index repeats fault and severity of every conversion rule."""
    index = json.loads((root / "rules" / "index.json").read_text("utf-8"))

    assert {
        rule: (index[rule]["fault"], index[rule]["severity"])
        for rule in index
        if rule.startswith("CNV")
    } == RULES
    assert all(index[rule]["category"] == "conversion" for rule in RULES)


def test_advice_is_given_in_sentences() -> None:
    """Each kind of cause has one or more sentences of advice."""
    assert all(text.endswith(".") and len(text) > 20 for text in ADVICE.values())
