"""The pre-commit hook: its manifest, and what its entry does in a project."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

MANIFEST = ROOT / ".pre-commit-hooks.yaml"


def hook() -> dict[str, Any]:
    """Return the hook."""
    (found,) = yaml.safe_load(MANIFEST.read_text("utf-8"))
    return dict(found)


def test_manifest() -> None:
    """pre-commit accepts the manifest."""
    pytest.importorskip("pre_commit")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("requirements.txt", True),
        ("serving/requirements-prod.in", True),
        ("pylock.prod.toml", True),
        ("model/train.json", True),
        ("model.onnx.envcheck.json", True),
        ("package.json", False),
        ("notes.txt", False),
    ],
)
def test_it_runs_when_an_environment_changes(path: str, *, wanted: bool) -> None:
    """The hook runs when a file that it may compare is committed, else not."""
    assert bool(re.search(hook()["files"], path)) is wanted


@pytest.mark.parametrize(("deploy", "code"), [("harmless", 0), ("prod", 1)])
def test_entry(tmp_path: Path, deploy: str, code: int) -> None:
    """The entry with the project's arguments passes and fails as a hook does."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command, *options = shlex.split(hook()["entry"])
    assert command == "envcheck"
    assert hook()["pass_filenames"] is False
    requirements = f"examples/requirements/{deploy}.txt"
    done = subprocess.run(
        [str(Path(sys.executable).with_name("envcheck")), *options, "examples/train.json",
         requirements],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == code, done.stdout + done.stderr
