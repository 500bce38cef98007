"""JUnit XML that fits its schema."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from envcheck.findings import Report
from envcheck.reporting.registry import render
from tests.reporting.hostile import hostile_report
from tests.reporting.sample import finding, report
from tests.strategies import hostile_text

SCHEMA = Path(__file__).with_name("schemas") / "junit-10.xsd"


@pytest.fixture(scope="module")
def schema() -> object:
    """Return the schema."""
    xmlschema = pytest.importorskip("xmlschema")
    return xmlschema.XMLSchema(str(SCHEMA))


@pytest.mark.parametrize(
    "made",
    [report(), hostile_report(), Report(), report(findings=(), strict=True)],
    ids=["sample", "hostile", "empty", "undecided"],
)
def test_schema(schema: object, made: Report) -> None:
    """Every report fits the schema that CI systems read by."""
    schema.validate(render(made, "junit"))  # type: ignore[attr-defined]


def test_schema_sees_mistakes(schema: object) -> None:
    """The schema refuses a report with a wrong count."""
    text = render(report(), "junit").replace('tests="8"', 'tests="many"')

    assert not schema.is_valid(text)  # type: ignore[attr-defined]


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


@given(hostile_text())
def test_any_text_is_xml(text: str) -> None:
    """Any text gives well-formed XML with the same elements."""
    made = render(report(findings=(finding(title=text, subject=text, detail=text),)), "junit")
    tags = [element.tag for element in ET.fromstring(made).iter()]

    assert tags.count("failure") == 1
    assert tags.count("testcase") == 3
