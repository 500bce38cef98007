"""A report read back from its file, and two reports told as one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envcheck.errors import InputError, SchemaError
from envcheck.findings import Report
from envcheck.reporting.merging import merged
from envcheck.reporting.registry import formats, render
from envcheck.reporting.stored import parse_report, read_report
from tests.cli.running import envcheck
from tests.conftest import ROOT
from tests.reporting.hostile import hostile_report
from tests.reporting.models import parity_report, training_report
from tests.reporting.sample import finding, report
from tests.strategies import json_values

if TYPE_CHECKING:
    from pathlib import Path

MADE = {
    "sample": report(), "hostile": hostile_report(), "parity": parity_report(),
    "training": training_report(), "empty": Report(),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_was_written_is_read(name: str) -> None:
    """A report that is read and written again is the same file."""
    text = render(MADE[name], "json")

    assert render(parse_report(text), "json") == text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": "envcheck.report/9"}, "envcheck.report/9"),
        ({"schema": "envcheck.fingerprint/1"}, "no report"),
        ({"findings": None}, "no sound report"),
        ({"findings": [{"rule": "X"}]}, "no sound report"),
        ({"rules": {}}, "no sound report"),
        ({"parity": {"verdict": "match"}}, "no sound report"),
    ],
)
def test_what_is_no_report_is_refused(change: dict[str, Any], told: str) -> None:
    """A file of another kind, of another version or with parts missing is refused in a line."""
    data = {**json.loads(render(report(), "json")), **change}

    with pytest.raises((InputError, SchemaError), match=told):
        parse_report(json.dumps(data))


@given(st.sampled_from(["findings", "undetermined", "inputs", "stages", "notes", "parity"]),
       json_values())  # fmt: skip
def test_any_member_is_read_or_refused(name: str, value: Any) -> None:
    """Whatever stands in a member, it is refused, or every format can show it."""
    data = {**json.loads(render(parity_report(), "json")), name: value}
    try:
        read = parse_report(json.dumps(data))
    except InputError:
        return
    for form in formats():
        assert render(read, form)


def test_one_report_of_both() -> None:
    """Findings are ranked by severity, rules add up, and both stages are told."""
    warned = report(findings=(finding(severity="warning"),), rules={"pass": 9, "finding": 1})
    whole = merged(warned, parity_report())

    assert [(item.rank, item.rule) for item in whole.findings] == [(1, "CNV010"), (2, "ENV031")]
    assert whole.verdict == "does_not_conform"
    assert whole.rules_checked == 10 + 12
    assert whole.to_json()["stages"] == {
        "environment": "warning", "conversion": "error", "training": "not_checked",
    }  # fmt: skip
    assert whole.inputs["reference"]["place"] == "tiny.keras"
    assert whole.inputs["train"]["place"] == "train.json"


def test_an_open_stage_is_no_pass() -> None:
    """Models that could not be compared make the whole undetermined; an error outweighs that."""
    good = report(findings=(), undetermined=(), rules={"pass": 9})
    unsure = parity_report(findings=(), rules={"pass": 0, "finding": 0, "unknown": 1})
    whole = merged(good, unsure)

    assert whole.verdict == "undetermined"
    assert whole.to_json()["stages"]["conversion"] == "not_checked"
    assert whole.stage("environment") == "pass"
    assert "the conversion could not be decided" in render(whole, "text")
    assert merged(report(), unsure).verdict == "does_not_conform"
    assert merged(Report(), parity_report(findings=())).verdict == "undetermined"


def test_compare_takes_the_report_of_parity(tmp_path: Path) -> None:
    """`--parity FILE` puts the comparison of models into report and exit code."""
    path = tmp_path / "parity.json"
    pair = [str(ROOT / "examples/train.json"), str(ROOT / "examples/harmless.json")]
    path.write_text(render(parity_report(), "json"), "utf-8")
    alone = envcheck("compare", *pair)
    whole = envcheck("compare", *pair, "--parity", str(path))
    path.write_text(render(report(), "json"), "utf-8")
    wrong = envcheck("compare", *pair, "--parity", str(path))

    assert (alone.returncode, whole.returncode, wrong.returncode) == (0, 1, 2)
    assert "CNV010" in whole.stdout
    assert "reference tiny.keras" in whole.stdout
    assert "is no report of envcheck parity" in wrong.stderr
    with pytest.raises(InputError, match="cannot be read"):
        read_report(str(tmp_path / "nowhere.json"))
