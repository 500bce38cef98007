"""The action compares models where that is asked for, and tells it in the same places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.action.runner import everything
from tests.reporting.models import parity_report

PAIR = {"train": "examples/train.json", "deploy": "examples/harmless.json"}
GOOD = {"parity": "models/keras.trace", "parity-candidate": "models/good.trace"}
BAD = {**GOOD, "parity-candidate": "models/bad.trace"}
HERE = {"parity-python": sys.executable}
"""The Python of these tests has what two traces need."""


@pytest.fixture(autouse=True)
def _numpy() -> None:
    pytest.importorskip("numpy", reason="traces are arrays")


def loaded(path: str) -> Any:
    """Return the JSON data of a file."""
    return json.loads(Path(path).read_text("utf-8"))


def test_models_that_agree(step: Any) -> None:
    """Both stages pass, and the outputs say what was found about the models."""
    ran = step(**PAIR, **GOOD, **HERE)

    assert ran.code == 0, ran.log
    assert (ran.outputs["conforms"], ran.outputs["parity"]) == ("true", "match")
    assert [name for name, _, _ in ran.commands] == ["notice"]
    assert "- **parity** match: same function" in ran.summary
    assert loaded(ran.outputs["report"])["stages"] == {
        "environment": "pass", "conversion": "pass", "training": "not_checked",
    }  # fmt: skip


def test_models_that_differ(step: Any, workspace: Path) -> None:
    """A conforming environment does not make up for it: verdict, annotation, SARIF, summary."""
    before = everything(workspace)
    ran = step(**PAIR, **BAD, **HERE)

    assert ran.code == 1
    assert {name: ran.outputs[name] for name in ("conforms", "verdict", "errors", "parity")} == {
        "conforms": "false", "verdict": "does_not_conform", "errors": "1", "parity": "mismatch",
    }  # fmt: skip
    name, properties, message = ran.commands[0]
    assert (name, properties["title"][:6]) == ("error", "CNV010")
    assert "layer hidden" in message
    run = loaded(ran.outputs["sarif"])["runs"][0]
    (diverged,) = (item for item in run["results"] if item["ruleId"] == "CNV010")
    place = diverged["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "models/bad.trace"
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "hidden"
    assert "| fault | hidden |" in ran.summary
    assert everything(workspace) == before


def test_both_stages_fail(step: Any) -> None:
    """Findings of both stand in one report, ranked together."""
    ran = step(train="examples/train.json", deploy="examples/prod.json", **BAD, **HERE)
    found = loaded(ran.outputs["report"])["findings"]
    errors = [item["rule"][:3] for item in found if item["severity"] == "error"]

    assert ran.code == 1
    assert errors == ["ENV", "CNV"]
    assert [item["rank"] for item in found] == list(range(1, len(found) + 1))
    assert ran.outputs["errors"] == "2"


def test_the_configuration_decides_what_fails(step: Any, workspace: Path) -> None:
    """`fail-on = "never"` of the configuration holds for the models as well."""
    (workspace / "envcheck.toml").write_text('fail-on = "never"\n', "utf-8")
    ran = step(**PAIR, **BAD, **HERE)

    assert (ran.code, ran.outputs["conforms"], ran.outputs["parity"]) == (0, "false", "mismatch")


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"parity-candidate": "models/good.trace"}, "says nothing without the input parity"),
        ({**GOOD, "parity-candidate": "models/none.onnx"}, "does not exist"),
        ({**GOOD, "parity-inputs": "none.npz"}, "does not exist"),
        ({**GOOD, "parity-python": "no-such-python"}, "cannot be run"),
    ],
)
def test_half_a_request_is_refused(step: Any, inputs: dict[str, str], told: str) -> None:
    """Nothing is checked, and the annotation says which input is wrong."""
    ran = step(**{**PAIR, **HERE, **inputs} if "parity" in inputs else {**PAIR, **inputs})

    assert (ran.code, ran.outputs["exit-code"], ran.outputs["conforms"]) == (2, "2", "")
    assert told in ran.commands[-1][2]


def test_a_comparison_that_cannot_run_is_no_pass(step: Any, workspace: Path) -> None:
    """The environment is told, the models are not, and the step fails without a verdict."""
    (workspace / "models/broken.trace").write_bytes(b"no trace")
    ran = step(**PAIR, **{**GOOD, "parity": "models/broken.trace"}, **HERE)

    assert ran.code == 2
    assert (ran.outputs["conforms"], ran.outputs["verdict"], ran.outputs["parity"]) == ("", "", "")
    assert ran.commands[0][1]["title"] == "envcheck: the models were not compared"
    assert "broken.trace" in ran.commands[0][2]
    assert ran.summary.startswith("## ❔ envcheck: the models were not compared")
    assert "## ✅ envcheck: conforms" in ran.summary
    assert loaded(ran.outputs["report"])["stages"]["conversion"] == "not_checked"


def stand_in(folder: Path, report: str, code: int) -> str:
    """Return a program in the place of a Python: it notes how it was called and reports that."""
    data = folder / "stand-in.json"
    data.write_text(report, "utf-8")
    script = folder / "python"
    script.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" >"{folder}/arguments"\n'
        f'env >"{folder}/variables"\n'
        'for word; do case "$word" in --format=json=*) out="${word#--format=json=}";; esac; done\n'
        f'cp "{data}" "$out"\n'
        f"exit {code}\n"
    )
    script.chmod(0o755)
    return str(script)


def test_an_open_comparison_is_no_pass(step: Any, tmp_path: Path) -> None:
    """Models that could not be decided leave the whole undecided, with exit code 3."""
    found = {**(parity_report().parity or {}), "verdict": "inconclusive"}
    unsure = parity_report(findings=(), rules={"unknown": 1}, parity=found)
    python = stand_in(tmp_path, json.dumps(unsure.to_json()), 3)
    ran = step(**PAIR, **GOOD, **{"parity-python": python})

    assert (ran.code, ran.outputs["exit-code"]) == (3, "3")
    assert (ran.outputs["conforms"], ran.outputs["verdict"]) == ("", "undetermined")
    assert ran.outputs["parity"] == "inconclusive"
    assert "the conversion could not be decided" in ran.summary


def test_what_is_run_gets_nothing_to_forge_with(step: Any, tmp_path: Path) -> None:
    """Code of a model sees no file of the runner and no input; options come as arguments."""
    python = stand_in(tmp_path, json.dumps(parity_report().to_json()), 0)
    inputs = {"parity-python": python, "parity-inputs": "models/keras.trace",
              "parity-import": "examples/make.py"}  # fmt: skip
    ran = step(_environment={"PYTHONPATH": "/evil", "GITHUB_TOKEN": "secret"}, **PAIR, **BAD,
               **inputs)  # fmt: skip
    names = {line.partition("=")[0] for line in (tmp_path / "variables").read_text().splitlines()}
    arguments = (tmp_path / "arguments").read_text().splitlines()

    assert ran.code == 1
    assert [name for name in names if name.startswith(("GITHUB_", "INPUT_", "RUNNER_"))] == []
    assert "PYTHONPATH" not in names
    assert arguments[:3] == ["-E", "-P", "-B"]
    assert arguments[-3:] == ["--", "models/keras.trace", "models/bad.trace"]
    assert {"--inputs=models/keras.trace", "--import=examples/make.py"} <= set(arguments)


@pytest.mark.parametrize("code", [1, 4, 139])
def test_a_crash_of_the_comparison_is_no_verdict(step: Any, tmp_path: Path, code: int) -> None:
    """Whatever it left, a comparison that ended unexpectedly counts as not made."""
    python = stand_in(tmp_path, json.dumps(parity_report(findings=()).to_json()), code)
    ran = step(**PAIR, **GOOD, **{"parity-python": python})

    assert (ran.code, ran.outputs["conforms"], ran.outputs["parity"]) == (4, "", "")


def packages() -> str:
    """Return what is installed beside these tests."""
    return subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip


def test_without_an_index_the_models_are_not_compared(step: Any) -> None:
    """The environment of its own cannot be filled; the step says so, and what to do instead."""
    before = packages()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    ran = step(_environment=offline, **PAIR, **GOOD)

    assert (ran.code, ran.outputs["conforms"]) == (4, "")
    assert "could not be installed; the input parity-python names" in ran.commands[0][2]
    assert packages() == before


@pytest.mark.slow
def test_in_an_environment_of_its_own(step: Any) -> None:
    """Everything comes from the package index into the runner's temp folder, nothing elsewhere."""
    before = packages()
    good, bad = step(**PAIR, **GOOD), step(**PAIR, **BAD)

    assert (good.code, good.outputs["parity"]) == (0, "match"), good.log
    assert (bad.code, bad.outputs["parity"]) == (1, "mismatch")
    assert packages() == before
    place = Path(good.outputs["report"]).parent / "python"
    assert list(place.glob("lib/python3.*/site-packages/onnxruntime"))
