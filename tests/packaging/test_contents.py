"""What is in the wheel, in the sdist and in the zipapp."""

from __future__ import annotations

import email
import tarfile
import tomllib
import zipfile
from typing import TYPE_CHECKING

from tools.build_pyz import build as build_pyz

if TYPE_CHECKING:
    from pathlib import Path

    from tests.packaging.conftest import Distributions

SHIPPED = ("envcheck", "probes", "rules")
ALSO_IN_SDIST = ("tests", "benchmarks", "changelog.d", "docs", "examples", "tools", ".ci")


def test_wheel_holds_every_file_of_the_three_folders(distributions: Distributions) -> None:
    """Each file under envcheck/, probes/ and rules/ is in the wheel, and nothing else is."""
    expected = {
        name if name.startswith("envcheck/") else f"envcheck/{name}"
        for name in files_below(distributions.tree, SHIPPED)
    }

    assert wheel_files(distributions.wheel) == expected


def test_both_ways_to_the_wheel_give_the_same_files(distributions: Distributions) -> None:
    """The wheel built from the sdist equals the one built from the checkout, file by file."""
    with (
        zipfile.ZipFile(distributions.wheel) as one,
        zipfile.ZipFile(distributions.direct_wheel) as other,
    ):
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_sdist_can_build_test_and_document(distributions: Distributions) -> None:
    """The sdist holds the product, its tests and its documents, and the top-level files."""
    expected = files_below(distributions.tree, SHIPPED + ALSO_IN_SDIST)
    expected |= {
        path.name
        for path in distributions.tree.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }
    with tarfile.open(distributions.sdist) as archive:
        names = {
            member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()
        }

    assert expected - names == set()


def test_metadata(distributions: Distributions) -> None:
    """The wheel says what pyproject.toml says: name, licence, dependencies, command."""
    text = (distributions.tree / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    with zipfile.ZipFile(distributions.wheel) as wheel:
        info = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(wheel.read(info))
        entry_points = wheel.read(info.replace("METADATA", "entry_points.txt")).decode()
        licences = [name for name in wheel.namelist() if name.endswith("/LICENSE")]
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]

    assert metadata["Name"] == "ml-envcheck"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert sorted(required) == sorted(project["dependencies"])
    assert "envcheck = envcheck.cli:main" in entry_points
    assert len(licences) == 1


def test_pyz_is_reproducible(distributions: Distributions) -> None:
    """The same wheel gives the same bytes, also through the other way to the wheel."""
    first = build_pyz(distributions.wheel)

    assert first == build_pyz(distributions.wheel)
    assert first == build_pyz(distributions.direct_wheel)


def test_pyz_is_no_distribution(distributions: Distributions, tmp_path: Path) -> None:
    """The zipapp carries code, rules and licences, and no metadata that a capture would count."""
    app = tmp_path / "envcheck.pyz"
    app.write_bytes(build_pyz(distributions.wheel))
    with zipfile.ZipFile(app) as archive:
        names = set(archive.namelist())
    ours = {name for name in names if not name.startswith("packaging/")}

    assert ours == wheel_files(distributions.wheel) | {"__main__.py", "LICENSE"}
    assert {"packaging/version.py", "packaging/LICENSE"} <= names


def wheel_files(wheel: Path) -> set[str]:
    """Return the names of the files in a wheel, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def files_below(tree: Path, folders: tuple[str, ...]) -> set[str]:
    """Return the files in these folders of the checkout, relative to it."""
    return {
        path.relative_to(tree).as_posix()
        for folder in folders
        for path in (tree / folder).rglob("*")
        if path.is_file()
    }
