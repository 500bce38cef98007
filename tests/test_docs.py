"""The docs are complete, fresh, and make a site that needs nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.conftest import ROOT
from tools.make_reference import PAGES, TARGET

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_reference_is_fresh(name: str) -> None:
    """`python tools/make_reference.py` has been run since the last change of the code."""
    assert (TARGET / name).read_text("utf-8") == PAGES[name]()


def test_every_page_is_in_the_navigation() -> None:
    """A page that no menu shows is not read."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    table = (DOCS / "rules" / "index.md").read_text("utf-8")
    listed |= {f"rules/{name}" for name in re.findall(r"\]\(([^)]+\.md)\)", table)}

    assert yaml.safe_load(text)["nav"]
    assert pages == listed


def test_shown_workflow_lines_are_those_of_the_workflows() -> None:
    """The snippet of the how-to stands in the workflow that is linted."""
    page = (DOCS / "how-to" / "github-action.md").read_text("utf-8")
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)

    assert found
    assert found[1] in (DOCS / "workflows" / "release.yml").read_text("utf-8")


def test_every_input_and_output_of_the_action_is_described() -> None:
    """The how-to of the action names all of them."""
    page = (DOCS / "how-to" / "github-action.md").read_text("utf-8")
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

    for name in (*action["inputs"], *action["outputs"]):
        assert re.search(rf"`{name}\b", page), name


@pytest.mark.slow
def test_site_builds_offline(tmp_path: Path) -> None:
    """The site builds without warnings; its pages load nothing from another host."""
    site = tmp_path / "site"
    code = (
        "import socket, sys\n"
        "def refuse(*args, **kw): raise OSError('offline')\n"
        "socket.socket.connect = refuse\n"
        "from mkdocs.__main__ import cli\n"
        f"cli(['build', '--strict', '--quiet', '--site-dir', {str(site)!r}])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )

    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(site.rglob("*.html"))
    assert len(pages) > 10
    loaded = re.compile(
        r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)=[\"'](?:https?:)?//[^\"']*"
    )
    for path in pages:
        foreign = [tag for tag in loaded.findall(path.read_text("utf-8")) if "canonical" not in tag]
        assert foreign == [], path
