"""Annotations: few, the worst first, and nothing that forges another command."""

from __future__ import annotations

import re

from envcheck.findings import Location
from envcheck.reporting.as_github import command
from envcheck.reporting.registry import render
from tests.action.runner import obeyed
from tests.reporting.hostile import hostile_report
from tests.reporting.models import hostile_models, training_report
from tests.reporting.sample import finding, report


def test_annotations_stand_on_the_line_of_the_fact() -> None:
    """Each finding names file and line, the title the rule, the message what to do."""
    first, *_ = obeyed(render(report(), "github"))

    assert first[0] == "error"
    assert first[1] == {
        "file": "deploy.json",
        "line": "39",
        "title": "ENV031 scikit-learn 1.3.2 reads a pickle written by 1.5.2",
    }
    assert "python -m pip install 'scikit-learn==1.5.2'" in first[2]


def test_at_most_nine_and_one_that_counts_the_rest() -> None:
    """GitHub drops what is beyond ten; so errors come first and the last one says how many."""
    many = [finding(rank=n, severity="warning", subject=f"w{n}") for n in range(20)]
    many += [finding(rank=20 + n, subject=f"e{n}") for n in range(5)]
    found = obeyed(render(report(findings=tuple(many)), "github"))

    assert [name for name, _, _ in found] == ["error"] * 5 + ["warning"] * 4 + ["error"]
    assert "and 16 more, which the summary and the report file show" in found[-1][2]


def test_information_is_no_annotation() -> None:
    """A conforming report is one notice."""
    quiet = report(findings=(finding(severity="info"),))

    assert [name for name, _, _ in obeyed(render(quiet, "github"))] == ["notice"]


def test_hostile_text() -> None:
    """Every line is one command of ours; properties and data hold no character that ends them."""
    for made in (hostile_report(), hostile_models()):
        text = render(made, "github")
        for line in text.splitlines():
            assert re.fullmatch(r"::(error|warning) [^:]*::.*", line), line
        assert len(text.splitlines()) == 10
        assert text.isprintable() or set(text) - {"\n"} <= {c for c in text if c.isprintable()}
        assert [name for name, _, _ in obeyed(text)] == ["error"] * 10  # thirteen are errors


def test_a_training_fault_is_annotated_in_the_script() -> None:
    """The annotation stands on line and column of the argument and says layer, values, ways out."""
    _, properties, message = obeyed(render(training_report(), "github"))[0]

    assert (properties["file"], properties["line"], properties["col"]) == ("train.py", "31", "5")
    told = message.split("\n")
    assert "layer block/dense_2, tensor block/dense_2/kernel, epoch 2, batch 37" in told
    assert "seen NaN, expected a finite loss" in told
    assert sum(line.startswith("or else: TRN01") for line in told) == 2


def test_escaping() -> None:
    """Percent signs and breaks are escaped in both places, colons and commas in properties."""
    made = command("error", "50%\nof", title="a: b, c%\r", file=None)

    assert made == "::error title=a%3A b%2C c%25\\r::50%25%0Aof"
    place = finding(location=Location(file=None, line=7))
    assert "line=" not in render(report(findings=(place,)), "github")
