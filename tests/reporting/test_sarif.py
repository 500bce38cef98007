"""SARIF that fits its schema, that the multitool accepts, and that code scanning can place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from envcheck.findings import Location, Report
from envcheck.pairing import compare
from envcheck.reporting.merging import merged
from envcheck.reporting.registry import render
from tests.conftest import ROOT
from tests.reporting.hostile import hostile_report
from tests.reporting.models import hostile_models, parity_report, training_report
from tests.reporting.sample import finding, report

SCHEMA = Path(__file__).with_name("schemas") / "sarif-2.1.0.json"
ACCEPTED = {"SARIF2005"}
"""The multitool's advice that does not apply: there is no address to send a reader to."""


def real_report() -> Report:
    """Return the report on the examples that ship."""
    return compare(str(ROOT / "examples/train.json"), str(ROOT / "examples/prod.json"))


REPORTS = {
    "sample": report(),
    "real": real_report(),
    "hostile": hostile_report(),
    "parity": parity_report(),
    "training": training_report(),
    "hostile models": hostile_models(),
    "both": merged(report(), parity_report()),
    "empty": Report(),
    "undecided": report(findings=(), strict=True),
}


def sarif(made: Report) -> dict[str, Any]:
    """Return the report as SARIF data."""
    data: dict[str, Any] = json.loads(render(made, "sarif"))
    return data


@pytest.mark.parametrize("name", REPORTS)
def test_schema(name: str) -> None:
    """Every report fits the JSON Schema of SARIF 2.1.0."""
    from jsonschema import Draft4Validator

    schema = json.loads(SCHEMA.read_text("utf-8"))
    errors = [error.message for error in Draft4Validator(schema).iter_errors(sarif(REPORTS[name]))]
    assert errors == []


def test_a_result_stands_on_the_line_of_its_fact() -> None:
    """The root cause points into the canonical fingerprint, and to the other side as well."""
    result = sarif(real_report())["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    lines = (ROOT / "examples/train.json").read_text("utf-8").splitlines()

    assert place["artifactLocation"]["uri"].endswith("/examples/train.json")
    assert '"package.scikit-learn"' in lines[place["region"]["startLine"] - 1]
    assert result["relatedLocations"][0]["id"] == 1


def test_rules_explain_themselves() -> None:
    """Each result refers to a rule with help in text and Markdown."""
    run = sarif(real_report())["runs"][0]
    rules = run["tool"]["driver"]["rules"]

    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    for rule in rules:
        assert "What happens if you ship it" in rule["help"]["markdown"]
        assert rule["help"]["text"]


def test_identity_outlives_other_lines() -> None:
    """A finding keeps its fingerprint when its line moves, and loses it with other values."""

    def identity(**changes: Any) -> str:
        made = sarif(report(findings=(finding(**changes),)))
        return str(made["runs"][0]["results"][0]["partialFingerprints"])

    assert identity() == identity(location=Location(file="deploy.json", line=77))
    assert identity() != identity(deploy="1.4.0")


def test_waived_findings_are_suppressed() -> None:
    """A waived finding is there, with its reason."""
    results = sarif(report())["runs"][0]["results"]
    suppressed = [item["suppressions"] for item in results if "suppressions" in item]

    assert suppressed == [[{"kind": "external", "justification": "logs are in UTC either way"}]]


def test_a_training_fault_stands_on_its_source_line() -> None:
    """The argument's line and column are the region, further lines are related, the layer named."""
    result = sarif(training_report())["runs"][0]["results"][0]
    place = result["locations"][0]
    related = [item["physicalLocation"] for item in result["relatedLocations"]]

    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"}, "region": {"startLine": 31, "startColumn": 5},
    }  # fmt: skip
    assert place["logicalLocations"] == [
        {"name": "dense_2", "fullyQualifiedName": "block/dense_2", "kind": "module"},
        {"name": "kernel", "fullyQualifiedName": "block/dense_2/kernel", "kind": "member"},
    ]
    assert [(item["artifactLocation"]["uri"], item["region"]["startLine"]) for item in related] == [
        ("train.py", 12), ("models/net.py", 8),
    ]  # fmt: skip
    assert (result["properties"]["epoch"], result["properties"]["batch"]) == (2, 37)
    assert "Seen: NaN; expected: a finite loss." in result["message"]["text"]
    assert "Or else: TRN014 no gradient clipping" in result["message"]["text"]


def test_a_conversion_fault_stands_in_the_converted_file() -> None:
    """Beside an environment too, a divergence is placed in the candidate, an error of packages not.

    The environment keeps the identity of its findings whether or not models were compared.
    """
    alone = sarif(report())["runs"][0]["results"]
    both = sarif(merged(report(), parity_report()))["runs"][0]["results"]
    (diverged,) = (item for item in both if item["ruleId"] == "CNV010")
    place = diverged["locations"][0]

    assert place["physicalLocation"]["artifactLocation"]["uri"] == "wrong.onnx"
    assert place["logicalLocations"][0] == {
        "name": "hidden", "fullyQualifiedName": "hidden", "kind": "module",
    }  # fmt: skip
    identities = [str(item["partialFingerprints"]) for item in both if item is not diverged]
    assert sorted(identities) == sorted(str(item["partialFingerprints"]) for item in alone)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/train.json", "a%20b/train.json"),
        ("/srv/train.json", "file:///srv/train.json"),
        ("C:\\x\\train.json", "file:///C:/x/train.json"),
        ("sub\\train.json", "sub/train.json"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("a?b#c%2e\u202e", "a%3Fb%23c%252e%E2%80%AE"),
        (None, "train.json"),
    ],
)
def test_addresses(path: str | None, uri: str) -> None:
    """A path becomes a URI reference that means that path and nothing else."""
    made = sarif(report(findings=(finding(location=Location(file=path, line=1)),)))
    place = made["runs"][0]["results"][0]["locations"][0]["physicalLocation"]

    assert place["artifactLocation"]["uri"] == uri


def multitool() -> str | None:
    """Return the SARIF multitool, if it is there."""
    found = os.environ.get("SARIF_MULTITOOL") or shutil.which("Sarif.Multitool")
    return found if found and Path(found).is_file() else None


@pytest.mark.parametrize("name", REPORTS)
def test_multitool(name: str, tmp_path: Path) -> None:
    """The multitool finds nothing, by its own rules and by those of code scanning."""
    tool = multitool()
    if tool is None:
        if os.environ.get("CI"):
            pytest.fail("CI must have the SARIF multitool")
        pytest.skip("no SARIF multitool ($SARIF_MULTITOOL, or Sarif.Multitool on PATH)")
    path = tmp_path / "report.sarif"
    path.write_text(render(REPORTS[name], "sarif"), "utf-8")
    done = subprocess.run(
        [tool, "validate", str(path), "--rule-kind", "Sarif;Ghas"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    told = re.findall(r"(?:error|warning) (\w+): (.*)", done.stdout)

    assert "Analysis completed" in done.stdout, done.stdout + done.stderr
    assert [line for line in told if line[0] not in ACCEPTED] == []


def test_the_multitool_sees_mistakes(tmp_path: Path) -> None:
    """The multitool refuses a result without a place, which the schema lets pass."""
    tool = multitool()
    if tool is None:
        pytest.skip("no SARIF multitool")
    data = sarif(report())
    del data["runs"][0]["results"][0]["locations"]
    path = tmp_path / "report.sarif"
    path.write_text(json.dumps(data), "utf-8")
    done = subprocess.run(
        [tool, "validate", str(path), "--rule-kind", "Sarif;Ghas"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert "GH1015" in done.stdout
