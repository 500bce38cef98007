"""The text report of models and trainings: what a reader looks for is there, in few words."""

from __future__ import annotations

import json
import re

import pytest

from envcheck.findings import Location
from envcheck.reporting.merging import merged
from envcheck.reporting.registry import render
from envcheck.reporting.style import Style
from envcheck.reporting.words import inside_of, sides, spots, value_text, values_of
from envcheck.schemas import schema
from tests.reporting.models import (
    hostile_models,
    parity_report,
    training_finding,
    training_report,
)
from tests.reporting.sample import finding, report


def test_a_training_fault_in_the_terminal() -> None:
    """Values, layer, epoch and batch, source lines and the ways out stand on lines of their own."""
    lines = render(training_report(), "text").splitlines()

    assert lines[0] == "DOES NOT CONFORM: 2 errors, 1 warning (train.py)"
    assert "  script  train.py, Keras 3.15.1 on tensorflow, 1 model, 1 training, 3 epochs," in lines
    assert "  values  seen NaN, expected a finite loss" in lines
    assert "  at      layer block/dense_2, tensor block/dense_2/kernel, epoch 2, batch 37" in lines
    assert "  where   train.py:31, train.py:12, models/net.py:8" in lines
    assert "  or else TRN012 the learning rate 0.5 of SGD is high: lower it to 0.01" in lines
    assert "          TRN014 no gradient clipping: clip by norm 1.0" in lines
    assert "Not checked: environment and conversion." in lines
    assert lines[-1] == "  envcheck localise train.py"


def test_both_stages_in_the_terminal() -> None:
    """All four sides are named, and the next step is that of the worst finding."""
    text = render(merged(report(), parity_report()), "text")
    heads = re.findall(r"^  (train|deploy|reference|candidate) +(\S+),", text, re.MULTILINE)

    assert heads == [("train", "train.json"), ("deploy", "deploy.json"),
                     ("reference", "tiny.keras"), ("candidate", "wrong.onnx")]  # fmt: skip
    assert "Next: fix ENV031 first" in text
    assert "Not checked: training." in text
    alone = render(merged(report(findings=()), parity_report()), "text")
    assert alone.endswith("  envcheck parity tiny.keras wrong.onnx\n")


@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_models_in_the_terminal(*, verbose: bool) -> None:
    """Nothing invisible gets through."""
    text = render(hostile_models(), "text", Style(verbose=verbose))

    assert re.search(r"[^\n\x20-\x7e\u2192\u2026\u00d7]", text) is None
    assert "\\x1b[31m" in text


@pytest.mark.parametrize(
    "made", [parity_report(), training_report(), merged(report(), parity_report())],
    ids=["parity", "training", "both"],
)  # fmt: skip
def test_the_file_fits_its_schema(made: object) -> None:
    """A report on models, merged or not, is an `envcheck.report/1`."""
    jsonschema = pytest.importorskip("jsonschema")

    jsonschema.validate(json.loads(render(made, "json")), schema("report"))  # type: ignore[arg-type]


def test_places_in_words() -> None:
    """Layer, tensor, epoch and batch count from 0 and are told also where they are 0."""
    place = Location(layer="a/b", tensor="a/b:0", epoch=0, batch=0)

    assert inside_of(place) == "layer a/b, tensor a/b:0, epoch 0, batch 0"
    assert inside_of(Location(file="x.py", line=3)) == ""
    assert spots(training_finding(related=(Location(file="n.py", line=8, layer="c"),))) == [
        "train.py:31", "n.py:8 (layer c)",
    ]  # fmt: skip
    assert spots(finding(location=place, related=())) == [inside_of(place)]


def test_values_in_words() -> None:
    """Absent is a value on a side of an environment, and none where nothing was expected."""
    assert values_of(finding(train="1.0", deploy=None)) == [("train", "1.0"), ("deploy", "absent")]
    assert values_of(finding(train=None, deploy=2)) == [("deploy", "2")]
    assert values_of(training_finding(seen=0, expected=None)) == [("seen", "0")]
    assert value_text(1.8e12) == "1.8e+12"
    assert value_text(0.30000000000000004) == "0.3"
    assert value_text(2.5) == "2.5"


def test_sides_in_words() -> None:
    """A script says how it ended; a model says what ran it."""
    run: dict[str, object] = {
        "place": "t.py",
        "kind": "training",
        "keras": "3.15.1",
        "backend": "tensorflow",
    }
    run |= {"fits": 2, "interrupted": "ctrl-c", "exception": "ValueError", "exit_code": 1}
    ((label, name, line),) = sides(training_report(inputs={"run": run}))

    assert (label, name) == ("script", "t.py")
    assert line.startswith("Keras 3.15.1 on tensorflow, 2 trainings, ")
    assert line.endswith(", stopped by ctrl-c, ended by ValueError, exit code 1")
    reference, candidate = sides(parity_report())
    assert reference[2].endswith("tensorflow 2.21.0, keras 3.15.1")
    assert candidate[2].endswith("onnxruntime 1.32.0")
