"""`pytest --envcheck train.json` in a project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = "envcheck.integrations.pytest_plugin"
START = """
import sys
sys.path.insert(0, {root!r})
import envcheck
if {root!r} not in envcheck.__path__:
    envcheck.__path__.append({root!r})
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with one passing test and the example fingerprints."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "test_model.py").write_text("def test_model():\n    assert True\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def run(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the project, with the plugin."""
    registered = any(item.value == PLUGIN for item in entry_points(group="pytest11"))
    named = [] if registered else ["-p", PLUGIN]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-c", START.format(root=str(ROOT)), *named, "-p", "no:cacheprovider",
         *options],
        cwd=project, env=clean, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def deploy(name: str) -> list[str]:
    """Return the options that judge one of the examples."""
    return ["--envcheck", "examples/train.json", "--envcheck-deploy", f"examples/{name}.json"]


def test_entry_point() -> None:
    """An installed envcheck offers the plugin to pytest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"envcheck": PLUGIN}


def test_each_finding_is_a_test_before_the_others(project: Path) -> None:
    """The error fails with what to do, warnings pass, the project's own test still runs."""
    done = run(project, "-v", *deploy("prod"))
    lines = [line for line in done.stdout.splitlines() if "%]" in line]

    assert done.returncode == 1
    assert lines[0].startswith("envcheck::rules checked PASSED")
    assert "ENV031" in lines[1]
    assert "FAILED" in lines[1]
    assert "test_model.py::test_model PASSED" in lines[-1]
    assert len(lines) > 3
    assert "pip install 'scikit-learn==1.5.2'" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_conforming_environment_passes(project: Path) -> None:
    """Only the check itself is added."""
    done = run(project, *deploy("harmless"))

    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_warnings_can_fail(project: Path) -> None:
    """With the option, warnings fail as well."""
    done = run(project, *deploy("prod"), "--envcheck-fail-on", "warning")

    assert "3 failed" in done.stdout or "4 failed" in done.stdout


def test_without_the_option_nothing_happens(project: Path) -> None:
    """A project that does not ask sees nothing."""
    done = run(project)

    assert done.returncode == 0
    assert "1 passed" in done.stdout
    assert "envcheck:" not in done.stdout


def test_this_interpreter_is_the_default(project: Path) -> None:
    """Without --envcheck-deploy the running interpreter is judged."""
    done = run(project, "--envcheck", "examples/train.json")

    assert done.returncode in (0, 1)
    assert "envcheck: live against examples/train.json" in done.stdout


@pytest.mark.parametrize("train", ["nowhere.json", "test_model.py"])
def test_a_wrong_file_is_a_usage_error(project: Path, train: str) -> None:
    """What cannot be read ends the run with pytest's code for usage errors."""
    done = run(project, "--envcheck", train)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"envcheck: {train}" in done.stderr


def test_selection_and_junit_come_free(project: Path) -> None:
    """`-k` selects among the added tests, `--junitxml` reports them."""
    run(project, *deploy("prod"), "-k", "ENV031", "--junitxml=out.xml")
    cases: list[Any] = list(ET.parse(project / "out.xml").getroot().iter("testcase"))

    assert len(cases) == 1
    assert "ENV031" in cases[0].get("name")
    assert "1 deselected" in run(project, *deploy("prod"), "-k", "envcheck").stdout
