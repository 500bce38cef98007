"""JUnit XML that fits its schema."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from envcheck.findings import Report
from envcheck.reporting.registry import render
from tests.reporting.hostile import hostile_report
from tests.reporting.models import hostile_models, parity_report, training_report
from tests.reporting.sample import finding, report
from tests.strategies import hostile_text

SCHEMA = Path(__file__).with_name("schemas") / "junit-10.xsd"
"""The schema that Jenkins' xUnit plugin reads JUnit reports by, word for word (MIT licence)."""


@pytest.fixture(scope="module")
def schema() -> object:
    """Return the schema."""
    xmlschema = pytest.importorskip("xmlschema")
    return xmlschema.XMLSchema(str(SCHEMA))


@pytest.mark.parametrize(
    "made",
    [
        report(),
        hostile_report(),
        Report(),
        report(findings=(), strict=True),
        parity_report(),
        training_report(),
        hostile_models(),
    ],
    ids=["sample", "hostile", "empty", "undecided", "parity", "training", "hostile models"],
)
def test_schema(schema: object, made: Report) -> None:
    """Every report fits the schema that CI systems read by."""
    schema.validate(render(made, "junit"))  # type: ignore[attr-defined]


def test_schema_sees_mistakes(schema: object) -> None:
    """The schema refuses a suite without its count, a case without a name, a time in words."""
    text = render(report(), "junit")
    for told, wrong in ((' tests="8"', ""), ('<testcase classname="envcheck" name=',
                        '<testcase classname="envcheck" title='), ('time="0"', 'time="soon"'),
                        ("system-out", "stdout")):  # fmt: skip
        assert told in text
        assert not schema.is_valid(text.replace(told, wrong)), told  # type: ignore[attr-defined]


def test_one_case_per_finding() -> None:
    """An error fails with its explanation; a waived finding is skipped with the reason."""
    suite = next(iter(ET.fromstring(render(report(), "junit"))))
    cases = {case.get("classname"): case for case in suite.iter("testcase")}
    failure = cases["envcheck.environment.ENV031"].find("failure")

    assert failure is not None
    assert failure.text is not None
    assert "pip install 'scikit-learn==1.5.2'" in failure.text
    assert cases["envcheck"].find("error") is None
    messages = [item.get("message") for item in suite.iter("skipped")]
    assert "waived: logs are in UTC either way" in messages


def test_a_training_fault_says_where() -> None:
    """The case of a training fault has layer, source lines, values and alternatives."""
    suite = next(iter(ET.fromstring(render(training_report(), "junit"))))
    (failure,) = (item for item in suite.iter("failure") if item.get("type") == "loss-becomes-nan")
    told = (failure.text or "").splitlines()

    assert "at: layer block/dense_2, tensor block/dense_2/kernel, epoch 2, batch 37" in told
    assert "where: train.py:31, train.py:12, models/net.py:8" in told
    assert told[1:3] == ["seen: NaN", "expected: a finite loss"]
    assert sum(line.startswith("or else: ") for line in told) == 2


@given(hostile_text())
def test_any_text_is_xml(text: str) -> None:
    """Any text gives well-formed XML with the same elements."""
    made = render(report(findings=(finding(title=text, subject=text, detail=text),)), "junit")
    tags = [element.tag for element in ET.fromstring(made).iter()]

    assert tags.count("failure") == 1
    assert tags.count("testcase") == 3
