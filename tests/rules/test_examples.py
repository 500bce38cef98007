"""The examples that are shipped, and every other fingerprint of the repository."""

from __future__ import annotations

import re
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from envcheck.fingerprint.reading import read_fingerprint
from tests.rules.reading import ROOT, loud, report
from tests.test_readme import blocks, fits, run, steps

if TYPE_CHECKING:
    from envcheck.fingerprint import Fingerprint

EXAMPLES = ROOT / "examples"
SCHEMA = b'"schema": "envcheck.fingerprint/'
FINGERPRINTS = sorted(
    path
    for folder in ("examples", "rules", "tests", "docs")
    for path in (ROOT / folder).rglob("*.json")
    if SCHEMA in path.read_bytes()[:400]
)


def read(path: Path) -> Fingerprint:
    """Return a fingerprint of the repository."""
    return read_fingerprint(str(path))


def test_production_does_not_conform() -> None:
    """The older scikit-learn is the root cause and comes first."""
    found = report(read(EXAMPLES / "train.json"), read(EXAMPLES / "prod.json"))

    assert found.verdict == "does_not_conform"
    assert found.findings[0].rule == "ENV031"
    assert found.findings[0].subject == "package.scikit-learn"
    assert (found.findings[0].train, found.findings[0].deploy) == ("1.5.2", "1.3.2")
    assert [item.rule for item in found.findings if item.severity == "error"] == ["ENV031"]


def test_the_way_back_is_no_error() -> None:
    """The same two environments the other way round: a newer reader is a warning at most."""
    found = report(read(EXAMPLES / "prod.json"), read(EXAMPLES / "train.json"))

    assert "error" not in {item.severity for item in found.findings}


def test_the_harmless_one_conforms() -> None:
    """Patch releases, tools that are missing and packages that are added say nothing."""
    found = report(read(EXAMPLES / "train.json"), read(EXAMPLES / "harmless.json"))

    assert loud(found) == []
    assert found.undetermined == ()
    assert found.verdict == "conforms"


@pytest.mark.parametrize("name", ["train", "prod", "harmless"])
def test_they_hold_what_was_asked_for(name: str) -> None:
    """Each capture has the packages that its requirements list, and at least fifty."""
    side = read(EXAMPLES / f"{name}.json")
    listed = (EXAMPLES / "requirements" / f"{name}.txt").read_text("utf-8").split()
    wanted = {
        re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower(): line.partition("==")[2]
        for line in listed
    }
    installed = {
        key: fact.value["version"]
        for key, fact in side.family("package").items()
        if key in wanted or key not in ("pip", "setuptools", "wheel")
    }

    assert installed == wanted
    assert len(installed) >= 50


@pytest.mark.parametrize("path", FINGERPRINTS, ids=lambda path: path.name)
def test_it_conforms_to_itself(path: Path) -> None:
    """No error and no warning, for every fingerprint of the repository."""
    side = read(path)

    assert loud(report(side, side)) == []


@pytest.mark.parametrize("path", FINGERPRINTS, ids=lambda path: path.name)
def test_it_is_whole_and_holds_nothing_private(path: Path) -> None:
    """No path of a machine, no user, no host; and no probe has failed."""
    side = read(path)
    text = path.read_text("utf-8")
    home = str(Path.home())

    assert re.findall(r'"(?:/tmp|/home|/root|/work|/Users|/opt|[A-Z]:\\\\)[^"]*"', text) == []
    assert home == "/" or home not in text
    for name in {Path.home().name, socket.gethostname()} - {""}:
        assert not re.search(rf'"{re.escape(name)}"', text)
    assert [key for key, fact in side.facts.items() if fact.state == "error"] == []


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    """Each command on the page of the examples prints the lines that are shown below it."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shown = [step for block in blocks(EXAMPLES / "README.md", "console") for step in steps(block)]

    assert len(shown) == 3
    for command, lines in shown:
        result = run(command, tmp_path)
        printed = (result.stdout + result.stderr).splitlines()
        assert fits(lines, printed), f"$ {command}\n" + "\n".join(printed)
