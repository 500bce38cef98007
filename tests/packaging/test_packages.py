"""What pyproject.toml lists is what the folders hold."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from tests.contract.sources import module_name

if TYPE_CHECKING:
    from pathlib import Path


def test_every_package_is_listed(root: Path) -> None:
    """Setuptools leaves out, silently, each package that `packages` does not name."""
    listed = setuptools_table(root)["packages"]
    on_disk = {
        module_name(path)
        for folder in ("envcheck", "probes", "rules")
        for path in (root / folder).rglob("__init__.py")
    }

    assert sorted(on_disk - set(listed)) == [], "add them to [tool.setuptools] packages"
    assert sorted(set(listed) - on_disk) == [], "remove them from [tool.setuptools] packages"
    assert listed == sorted(set(listed))


def test_every_folder_of_code_is_a_package(root: Path) -> None:
    """A folder with Python files and no `__init__.py` would be lost from the wheel."""
    folders = {
        path.parent
        for folder in ("envcheck", "probes", "rules")
        for path in (root / folder).rglob("*.py")
    }

    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_everything_that_is_tested_is_installed_for_development(root: Path) -> None:
    """The dev extra includes the extras whose code the default tests run."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]

    included = re.match(r"ml-envcheck\[(.*)\]", extras["dev"][0])
    assert included is not None
    assert {"graph", "onnx"} <= set(included[1].split(","))


def setuptools_table(root: Path) -> dict[str, Any]:
    """Return the table [tool.setuptools]."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    return dict(table["tool"]["setuptools"])
