"""The steps of the action run as a runner would run them, on good, bad and hostile input."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.action.runner import everything, use
from tests.reporting.test_markdown import OURS, leaves


def inert(summary: str) -> bool:
    """Return whether a summary holds no link, image or HTML but the mark-up of ours."""
    tokens = leaves(summary)
    html = "".join(item.content for item in tokens if item.type.startswith("html_"))
    kinds = {item.type for item in tokens}
    return "<" not in OURS.sub("", html) and not kinds & {"link_open", "image"}


def loaded(path: str) -> Any:
    """Return the JSON data of a file."""
    return json.loads(Path(path).read_text("utf-8"))


def test_a_pair_that_does_not_conform(step: Any, workspace: Path) -> None:
    """The step fails, the worst finding is annotated first, and everything is left to read."""
    before = everything(workspace)
    ran = step(train="examples/train.json", deploy="examples/prod.json")

    assert ran.code == 1
    assert {name: ran.outputs[name] for name in ("conforms", "verdict", "exit-code", "errors")} == {
        "conforms": "false", "verdict": "does_not_conform", "exit-code": "1", "errors": "1",
    }  # fmt: skip
    name, properties, message = ran.commands[0]
    assert (name, properties["file"]) == ("error", "examples/train.json")
    assert "scikit-learn" in properties["title"]
    assert "pip install 'scikit-learn==1.5.2'" in message
    line = (workspace / "examples/train.json").read_text().splitlines()[int(properties["line"]) - 1]
    assert line.strip().startswith('"package.scikit-learn"')
    assert {name for name, _, _ in ran.commands} == {"error", "warning"}
    assert ran.summary.startswith("## ❌ envcheck: does not conform")
    report = loaded(ran.outputs["report"])
    assert report["verdict"] == "does_not_conform"
    sarif = loaded(ran.outputs["sarif"])
    assert sarif["runs"][0]["properties"]["counts"] == report["counts"]
    assert everything(workspace) == before, "something was left in the workspace"


def test_a_pair_that_conforms(step: Any) -> None:
    """The step passes with one notice, and says so in outputs and summary."""
    ran = step(train="examples/train.json", deploy="examples/harmless.json")

    assert ran.code == 0
    assert ran.outputs["conforms"] == "true"
    assert [name for name, _, _ in ran.commands] == ["notice"]
    assert ran.summary.startswith("## ✅ envcheck: conforms")
    assert len(ran.outputs["digest"]) == 64


def test_the_interpreter_of_the_job(step: Any, workspace: Path) -> None:
    """Without further inputs the job's own Python is captured; against itself it conforms."""
    first = step(train="examples/train.json", python=sys.executable)
    shutil.copy(first.outputs["fingerprint"], workspace / "mine.json")
    again = step(train="mine.json", python=sys.executable)

    assert first.code in (0, 1)  # what this interpreter has installed is not the test's business
    assert again.code == 0, again.log
    assert again.outputs["digest"] == first.outputs["digest"]


def test_an_unpacked_image(step: Any, workspace: Path) -> None:
    """An unpacked image is read from its files."""
    (workspace / "image/etc").mkdir(parents=True)
    (workspace / "image/etc/os-release").write_text('ID=alpine\nVERSION_ID="3.20"\n')
    ran = step(train="examples/train.json", root="image")

    assert ran.code in (0, 1)
    facts = loaded(ran.outputs["fingerprint"])["facts"]
    assert facts["os.release_id"]["value"] == "alpine"


def test_paths_start_from_the_working_directory(step: Any, workspace: Path) -> None:
    """Inputs are relative to the working directory, annotations to the repository."""
    ran = step(train="train.json", deploy="prod.json", working_directory="examples",
               report_file="out.html", format="html", sarif_file="out.sarif")  # fmt: skip

    assert ran.commands[0][1]["file"] == "examples/train.json"
    assert (workspace / "examples/out.html").read_text("utf-8").startswith("<!doctype html>")
    assert ran.outputs["report"] == "examples/out.html"
    assert ran.outputs["sarif"] == "examples/out.sarif"
    assert (workspace / "examples/out.sarif").is_file()


@pytest.mark.parametrize("name", ["json", "text", "markdown", "junit", "prometheus"])
def test_report_file(step: Any, workspace: Path, name: str) -> None:
    """The report file is there in the format that is asked for."""
    step(train="examples/train.json", deploy="examples/prod.json", format=name, report_file="r")

    assert "does" in (workspace / "r").read_text("utf-8").lower()


def test_switches(step: Any) -> None:
    """Summary, annotations and failing can be switched off; the outputs tell all the same."""
    ran = step(train="examples/train.json", deploy="examples/prod.json", summary="false",
               annotations="false", fail_on="never")  # fmt: skip

    assert (ran.code, ran.summary, ran.commands) == (0, "", [])
    assert ran.outputs["conforms"] == "false"


def test_the_configuration_counts(step: Any, workspace: Path) -> None:
    """What an input leaves open is settled by the nearest configuration, an input outweighs it."""
    (workspace / "service").mkdir()
    (workspace / "service/envcheck.toml").write_text('fail-on = "never"\n', "utf-8")
    inputs = {"train": "../examples/train.json", "deploy": "../examples/prod.json"}
    quiet = step(**inputs, working_directory="service")
    loud = step(**inputs, working_directory="service", fail_on="error")
    named = step(train="examples/train.json", deploy="examples/prod.json",
                 config="service/envcheck.toml")  # fmt: skip

    assert (quiet.code, loud.code, named.code) == (0, 1, 0)
    assert {ran.outputs["conforms"] for ran in (quiet, loud, named)} == {"false"}


@pytest.mark.parametrize(
    ("inputs", "code", "told"),
    [
        ({"train": ""}, "2", "input train is missing"),
        ({"train": "nowhere.json"}, "2", "nowhere.json"),
        ({"train": "examples/train.json", "python": "no-such-python"}, "2", "not on PATH"),
        ({"train": "examples/train.json", "deploy": "a", "root": "b"}, "2", "exclude"),
        ({"train": "examples/train.json", "summary": "perhaps"}, "2", "neither"),
        ({"train": "examples/train.json", "working-directory": "no"}, "2", "no folder"),
        ({"train": "examples/train.json", "deploy": "empty.json"}, "3", "no facts"),
        ({"train": "examples/train.json", "deploy": "examples/prod.json",
          "report-file": "examples"}, "2", "cannot be written"),
    ],
)  # fmt: skip
def test_nothing_checked_is_no_pass(
    step: Any, workspace: Path, inputs: dict[str, str], code: str, told: str
) -> None:
    """The step fails, `conforms` is empty, and an annotation says why."""
    (workspace / "empty.json").write_text('{"schema": "envcheck.fingerprint/1", "facts": {}}')
    ran = step(**inputs)

    assert str(ran.code) == code
    assert (ran.outputs["conforms"], ran.outputs["exit-code"]) == ("", code)
    assert [name for name, _, _ in ran.commands][-1] == "error"
    assert told in ran.commands[-1][2]


HOSTILE = [
    "$(touch canary)",
    "`touch canary`",
    '"; touch canary; echo "',
    "'; touch canary; '",
    "a\ntouch canary",
    "x\nconforms=true",
    "x\r\nconforms<<E\ntrue\nE",
    "::set-output name=conforms::true",
    "%0A::set-output name=conforms::true",
    "##[set-output name=conforms]true",
    "${{ github.token }}",
    "<script>alert(1)</script>![x](https://evil.example/x.png)",
    "\x1b[2Jx\u202ey",
    "--version",
    "-",
    "|touch canary",
]
NAMES = ["train", "python", "root", "deploy", "model", "config", "fail-on", "report-file",
         "working-directory", "summary", "format", "rules", "sarif-file", "parity",
         "parity-candidate", "parity-inputs", "parity-import", "parity-python"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_hostile_inputs_do_nothing(step: Any, tmp_path: Path, name: str) -> None:
    """Nothing is executed, no output is forged, and no command is obeyed but our own."""
    first = NAMES.index(name) % 3
    for text in HOSTILE[first::3]:  # each text meets a third of the inputs
        attack(step, tmp_path, name, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_hostile_input_does_nothing(step: Any, tmp_path: Path, name: str) -> None:
    """The same with every text in every input."""
    for text in HOSTILE:
        attack(step, tmp_path, name, text)


def attack(step: Any, folder: Path, name: str, text: str) -> None:
    """Run the action with a hostile text in one input."""
    inputs = {"train": "examples/train.json", "deploy": "examples/prod.json"}
    if name in ("python", "root", "model"):
        del inputs["deploy"]
    if name.startswith("parity-"):
        traces = {"parity": "models/keras.trace", "parity-candidate": "models/good.trace"}
        inputs |= {**traces, "parity-python": sys.executable}
    ran = step(**{**inputs, name: text})

    assert not list(folder.rglob("canary*")), f"{name}={text!r} was executed"
    assert ran.outputs["conforms"] != "true", f"{name}={text!r} forged an output"
    assert ran.code in (1, 2), f"{name}={text!r}: {ran.log}"
    assert {command for command, _, _ in ran.commands} <= {"error", "warning"}
    assert inert(ran.summary)


def test_hostile_fingerprints_do_nothing(step: Any, workspace: Path, tmp_path: Path) -> None:
    """A fingerprint full of commands and mark-up fails the check and does nothing else."""
    train = json.loads((workspace / "examples/train.json").read_text("utf-8"))
    deploy = json.loads((workspace / "examples/prod.json").read_text("utf-8"))
    for number, text in enumerate(HOSTILE):
        key = "".join(char for char in text if char.isprintable())
        train["facts"][f"package.p{number}{key}"] = {
            "state": "ok",
            "value": {"version": text, "requires": [text]},
        }
        deploy["facts"][f"file.f{number}"] = {"state": "unknown", "reason": text}
    deploy["facts"]["os.release_id"] = {"state": "ok", "value": "\n".join(HOSTILE)}
    deploy["facts"]["python.version"] = {"state": "ok", "value": HOSTILE[7]}
    for name, data in (("t.json", train), ("d.json", deploy)):
        (workspace / name).write_text(json.dumps(data), "utf-8")
    ran = step(train="t.json", deploy="d.json")

    assert ran.code == 1, ran.log
    assert ran.outputs["conforms"] == "false"
    assert not list(tmp_path.rglob("canary*"))
    assert {command for command, _, _ in ran.commands} <= {"error", "warning"}
    assert inert(ran.summary)


def test_an_old_python_is_told(checkout: Path, workspace: Path, tmp_path: Path) -> None:
    """Where no Python 3.11 is to be found, the step fails and says what to do."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("sh", "dirname"):
        (bare / tool).symlink_to(shutil.which(tool) or "")
    script = checkout / "action" / "start.sh"
    lines = script.read_text("utf-8").replace("/usr/bin/python3", "/nonexistent/python3")
    other = tmp_path / "other"
    shutil.copytree(checkout, other)
    (other / "action" / "start.sh").write_text(lines, "utf-8")
    ran = use(other, {"train": "examples/train.json"}, workspace, tmp_path / "t", PATH=str(bare))

    assert ran.code == 2
    assert ran.outputs["exit-code"] == "2"
    assert ran.outputs["conforms"] == ""
    assert "setup-python" in ran.commands[0][2]
