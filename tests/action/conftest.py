"""A checkout of the action, a workspace to use it in, and a step that does."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.action.runner import Ran, everything, use
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EVENT = ROOT / "tests" / "action" / "release_event.json"
MODELS = ROOT / "tests" / "action" / "data"
SHIPPED = ("action.yml", "action", "envcheck", "probes", "rules", "pyproject.toml")


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout of the action alone, as the runner makes one, which nobody may change."""
    folder = tmp_path_factory.mktemp("actions") / "acme" / "envcheck"
    folder.mkdir(parents=True)
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        else:
            shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with the example fingerprints and the traces of three models in it."""
    folder = tmp_path / "work" / "credit-model"
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(MODELS, folder / "models")
    return folder


@pytest.fixture
def step(checkout: Path, workspace: Path, tmp_path: Path) -> Any:
    """Return a function that runs the action in the workspace under a `release` event."""

    def run(_environment: dict[str, str] | None = None, **inputs: str) -> Ran:
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        temp = tmp_path / f"_temp-{len(list(tmp_path.iterdir()))}"
        before = everything(checkout)
        ran = use(checkout, named, workspace, temp, GITHUB_EVENT_NAME="release",
                  GITHUB_EVENT_PATH=str(EVENT), GITHUB_REF_NAME="v2.3.0",
                  RUNNER_TOOL_CACHE=str(tmp_path / "tools"),
                  **(_environment or {}))  # fmt: skip
        assert everything(checkout) == before, "the run wrote into the action's own folder"
        assert ran.leaked == ""
        assert "Traceback" not in ran.log
        return ran

    return run
