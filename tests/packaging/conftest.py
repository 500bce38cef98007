"""The distributions, built once from a copy of the checkout, and venvs to install them into."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


@dataclass(frozen=True)
class Distributions:
    """What was built, and the copy of the checkout that it was built from."""

    tree: Path
    sdist: Path
    wheel: Path
    """Built from the sdist, as an index would."""
    direct_wheel: Path
    """Built from the checkout, as `pip install .` does."""


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Build the sdist, the wheel from it, and the wheel from the checkout."""
    folder = tmp_path_factory.mktemp("distributions")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=NOT_SOURCE, symlinks=True)
    build(tree, folder / "through-sdist")
    build(tree, folder / "direct", "--wheel")
    return Distributions(
        tree=tree,
        sdist=only(folder / "through-sdist", "*.tar.gz"),
        wheel=only(folder / "through-sdist", "*.whl"),
        direct_wheel=only(folder / "direct", "*.whl"),
    )


def build(tree: Path, out: Path, *options: str) -> None:
    """Run the build front end, with the build requirements of the development environment."""
    call([sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *options, tree])


def only(folder: Path, pattern: str) -> Path:
    """Return the one file that matches."""
    (path,) = folder.glob(pattern)
    return path


def call(command: list[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def fresh_venv(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that installs into a new venv and returns its folder of scripts."""

    def make(*requirements: str | Path, offline: bool = True) -> Path:
        folder = tmp_path / "venv"
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        python = folder / "bin" / "python"
        options = ["--no-index", "--no-deps"] if offline else []
        pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
        call([*pip, *options, *requirements])
        return python.parent

    return make


def lend_packaging(scripts: Path) -> None:
    """Give a venv the `packaging` of this interpreter, as an install from an index would."""
    (target,) = scripts.parent.glob("lib/python*/site-packages")
    source = distribution("packaging")
    for path in source.files or ():
        if ".." not in path.parts and path.suffix != ".pyc":
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(path.read_binary())


class Installed:
    """An envcheck as a user has it, run away from the checkout with a bare environment."""

    def __init__(self, command: list[str | Path], folder: Path) -> None:
        self.command = command
        self.folder = folder
        folder.mkdir()

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run one command of the tool."""
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env={"PATH": os.defpath, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def has_probes(self) -> Path:
        """Hold that a capture works; return its file."""
        done = self.run("capture", "-o", "here.json")
        assert done.returncode == 0, done.stderr
        path = self.folder / "here.json"
        facts = json.loads(path.read_text("utf-8"))["facts"]
        assert facts["python.version"]["state"] == "ok"
        assert facts["cpu.architecture"]["state"] == "ok"
        return path

    def has_rules(self, same: Path, train: Path, deploy: Path) -> None:
        """Hold that rules are found, stay silent on equal sides, and fire on the example."""
        done = self.run("compare", same, same, "--format", "json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["counts"]["rules_checked"] > 0
        done = self.run("compare", train, deploy, "--format", "json")
        assert done.returncode == 1, done.stdout + done.stderr
        assert json.loads(done.stdout)["findings"][0]["severity"] == "error"

    def works(self, tree: Path) -> None:
        """Hold that the main job works from this installation."""
        same = self.has_probes()
        self.has_rules(same, tree / "examples" / "train.json", tree / "examples" / "prod.json")
