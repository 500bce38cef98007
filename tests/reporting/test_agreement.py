"""All formats made from one report say the same verdict and the same counts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from envcheck.findings import Report
from envcheck.reporting.merging import merged
from envcheck.reporting.registry import formats, render
from tests.cli.running import envcheck
from tests.conftest import ROOT
from tests.reporting.hostile import hostile_report
from tests.reporting.models import hostile_models, parity_report, training_report
from tests.reporting.sample import report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNTS = ("error", "warning", "info", "undetermined", "waived", "rules_checked")
_Told = tuple[str, dict[str, int]]


def of_json(text: str) -> _Told:
    """Read the verdict and the counts from a JSON report."""
    data = json.loads(text)
    return data["verdict"], data["counts"]


def of_sarif(text: str) -> _Told:
    """Count results and notifications; the verdict stands in the properties of the run."""
    run = json.loads(text)["runs"][0]
    live = [item["level"] for item in run["results"] if not item.get("suppressions")]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    return run["properties"]["verdict"], {
        "error": live.count("error"),
        "warning": live.count("warning"),
        "info": live.count("note"),
        "waived": len(run["results"]) - len(live),
        "undetermined": sum("descriptor" in note for note in notes),
        "rules_checked": run["properties"]["counts"]["rules_checked"],
    }


def of_junit(text: str) -> _Told:
    """Count test cases; failures and errors must agree with the verdict."""
    suite = next(iter(ET.fromstring(text)))
    stated = {item.get("name", ""): item.get("value", "") for item in suite.iter("property")}
    skips = [item.get("message", "") for item in suite.iter("skipped")]
    outs = [item.text or "" for item in suite.iter("system-out")]
    verdict = stated["verdict"]
    failures, errors = int(suite.get("failures", "")), int(suite.get("errors", ""))
    assert (failures > 0) == (verdict == "does_not_conform")
    assert (errors > 0) == (verdict == "undetermined")
    assert int(suite.get("tests", "")) == len(list(suite.iter("testcase")))
    assert int(suite.get("skipped", "")) == len(skips)
    return verdict, {
        "error": len(list(suite.iter("failure"))),
        "warning": sum(out.startswith("warning: ") for out in outs),
        "info": sum(out.startswith("info: ") for out in outs),
        "waived": sum(skip.startswith("waived: ") for skip in skips),
        "undetermined": sum(skip.startswith("not decided: ") for skip in skips),
        "rules_checked": int(stated["counts.rules_checked"]),
    }


def of_prometheus(text: str) -> _Told:
    """Read the metrics."""
    values = dict(re.findall(r"^envcheck_(\S+) (\S+)$", text, re.MULTILINE))
    (verdict,) = re.findall(r'verdict\{verdict="(\w+)"\} 1\n', text)
    assert (values["conforms"] == "1") == (verdict == "conforms")
    counts = {name: values[f'findings{{severity="{name}"}}'] for name in COUNTS[:3]}
    counts |= {"waived": values["waived_findings"], "undetermined": values["undetermined"],
               "rules_checked": values["rules_checked"]}  # fmt: skip
    return verdict, {name: int(value) for name, value in counts.items()}


def of_html(text: str) -> _Told:
    """Read what the head of the page shows."""
    (verdict,) = re.findall(r'data-verdict="(\w+)"', text)
    counts = re.findall(r'data-count="(\w+)"><b>(\d+)</b>', text)
    return verdict, {name: int(number) for name, number in counts}


def of_markdown(text: str) -> _Told:
    """Read the heading and the row of counts."""
    (verdict,) = re.findall(r"^## \S+ envcheck: ([a-z ]+)$", text, re.MULTILINE)
    (row,) = re.findall(r"^\| ((?:\d+ \| ){5}\d+) \|$", text, re.MULTILINE)
    return verdict.replace(" ", "_"), dict(zip(COUNTS, map(int, row.split(" | ")), strict=True))


def of_github(text: str) -> _Told:
    """Read the last annotation."""
    found = re.fullmatch(r"::\w+ title=envcheck%3A ([a-z ]+)::(.*)", text.splitlines()[-1])
    assert found
    told = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", found[2])}
    names = {
        "error": ("error", "errors"),
        "warning": ("warning", "warnings"),
        "info": ("for",),
        "undetermined": ("not",),
        "waived": ("waived",),
        "rules_checked": ("rules",),
    }
    counts = {name: sum(told.get(word, 0) for word in words) for name, words in names.items()}
    return found[1].replace(" ", "_"), counts


def of_text(text: str) -> _Told:
    """Read the head line; the text report counts errors and warnings only."""
    found = re.match(r"([A-Z ]+): (.*)", text)
    assert found
    numbers = re.findall(r"(\d+|no) (error|warning)s?\b", found[2].partition(" (")[0])
    counts = {name: 0 if number == "no" else int(number) for number, name in numbers}
    return found[1].lower().replace(" ", "_"), counts


READERS: dict[str, Callable[[str], _Told]] = {
    "json": of_json, "sarif": of_sarif, "junit": of_junit, "prometheus": of_prometheus,
    "html": of_html, "markdown": of_markdown, "github": of_github, "text": of_text,
}  # fmt: skip
REPORTS: dict[str, Any] = {
    "sample": report(),
    "conforming": report(findings=(), undetermined=()),
    "undecided": report(findings=(), strict=True),
    "empty": Report(),
    "hostile": hostile_report(),
    "parity": parity_report(),
    "training": training_report(),
    "environment and models": merged(report(), parity_report()),
    "models not decided": merged(report(findings=()), parity_report(findings=(), rules={})),
    "hostile models": hostile_models(),
}


def test_every_format_is_read_here() -> None:
    """No format is left out of this comparison."""
    assert sorted(READERS) == formats()


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", REPORTS)
def test_verdict_and_counts(name: str, kind: str) -> None:
    """A format shows the verdict and the counts of the report."""
    made = REPORTS[kind]
    verdict, counts = READERS[name](render(made, name))
    expected = made.to_json()["counts"]

    assert verdict == made.verdict
    assert counts == ({key: expected[key] for key in counts} if name == "text" else expected)


def test_one_run_writes_all_formats(tmp_path: Path) -> None:
    """One `envcheck compare` with every format at once: all say the same of a real pair."""
    pair = [str(ROOT / "examples" / name) for name in ("train.json", "prod.json")]
    formats_ = [f"--format={name}={tmp_path / name}" for name in READERS]
    done = envcheck("compare", *pair, *formats_)
    told = {name: reader((tmp_path / name).read_text("utf-8")) for name, reader in READERS.items()}
    verdict, counts = told["json"]

    assert done.returncode == 1
    assert verdict == "does_not_conform"
    assert counts["error"] == 1
    for name, (other, numbers) in told.items():
        assert other == verdict, name
        assert numbers == {key: counts[key] for key in numbers}, name
    assert set(told["text"][1]) == {"error", "warning"}
