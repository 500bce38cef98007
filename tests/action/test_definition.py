"""action.yml by its schema, by the linters, and by our own rules for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


def definition() -> dict[str, Any]:
    """Return action.yml as data."""
    data: dict[str, Any] = yaml.safe_load(ACTION.read_text("utf-8"))
    return data


def tool(name: str) -> str:
    """Return a tool beside this interpreter or on PATH; CI must have it, others may not."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"CI must have {name}")
        pytest.skip(f"no {name}")
    return found


def run(*command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a linter offline."""
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=120
    )


def test_schema() -> None:
    """check-jsonschema accepts action.yml; it refuses booleans as defaults, for instance."""
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-actions", str(ACTION))

    assert done.returncode == 0, done.stdout + done.stderr


def test_action_validator() -> None:
    """So does action-validator, which is stricter about branding."""
    done = run(tool("action-validator"), str(ACTION))

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_zizmor(path: Path) -> None:
    """Zizmor finds nothing in the action, nor in the workflows that we show."""
    done = run(tool("zizmor"), "--offline", "--no-progress", "--persona", "pedantic",
               "--format", "json", str(path))  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_that_we_show(path: Path) -> None:
    """The workflows of the docs fit their schema and pass actionlint."""
    schema = run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(path))
    assert schema.returncode == 0, schema.stdout

    lint = run(tool("jactionlint"), "--no-color", str(path))
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_snippets_of_the_page_are_lines_of_workflows() -> None:
    """What the how-to shows stands in a workflow that is linted."""
    page = (ROOT / "docs" / "how-to" / "github-action.md").read_text("utf-8")
    workflows = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    snippets = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)

    assert len(snippets) == 2
    assert all(snippet in workflows for snippet in snippets)


def test_an_action_is_pinned_alike_everywhere() -> None:
    """Each action of others has one commit and its version; ours is a placeholder of zeros."""
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for name, pin in re.findall(r"uses: (\S+)@(.*)", path.read_text("utf-8")):
            assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", pin), f"{path.name}: {name}"
            pins.setdefault(name, set()).add(pin)

    assert pins.pop("acme/envcheck") == {f"{'0' * 40} # v0.1.0"}
    assert {len(found) for found in pins.values()} == {1}
    assert not any(pin.startswith("0" * 40) for found in pins.values() for pin in found)


@pytest.mark.parametrize("script", ["action/start.sh", ".ci/run"])
def test_shellcheck_of_scripts(script: str) -> None:
    """The shell scripts pass shellcheck."""
    done = run(tool("shellcheck"), "--exclude=SC1090,SC1091", str(ROOT / script))

    assert done.returncode == 0, done.stdout


def test_shellcheck_of_run_blocks() -> None:
    """So does each `run` block of the action."""
    for step in definition()["runs"]["steps"]:
        done = run(tool("shellcheck"), f"--shell={step['shell']}", "-", text=step["run"])
        assert done.returncode == 0, done.stdout


def test_our_rules() -> None:
    """No other action, no expression in a script, every input through a variable, all quoted."""
    data = definition()
    assert data["runs"]["using"] == "composite"
    text = ACTION.read_text("utf-8")
    passed = set()
    for step in data["runs"]["steps"]:
        assert "uses" not in step
        assert "${{" not in step["run"]
        for name, value in step["env"].items():
            found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
            assert found, f"{name} is more than an input"
            assert name == f"INPUT_{found[1].upper().replace('-', '_')}"
            passed.add(found[1])
    assert passed == set(data["inputs"])
    for name, about in data["inputs"].items():
        assert isinstance(about.get("default", ""), str), name
        assert about["required"] is (name == "train")
    assert re.findall(r"^\s+default: (?!\")", text, re.MULTILINE) == []


def test_outputs_are_written() -> None:
    """Every output is one that the check writes."""
    source = (ROOT / "action" / "checking.py").read_text("utf-8")

    for name, about in definition()["outputs"].items():
        assert about["value"] == f"${{{{ steps.check.outputs.{name} }}}}"
        assert f'"{name}": ' in source


def test_only_the_models_install_anything() -> None:
    """No file of the action names an installer or an address but the one for the models."""
    for path in (ROOT / "action").iterdir():
        if path.is_file() and path.name != "models.py":
            assert not re.search(r"\b(pip|uv|curl|wget|https?)\b", path.read_text("utf-8")), path
