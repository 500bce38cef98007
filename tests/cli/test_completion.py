"""Shell completion knows every command and option, and works."""

from __future__ import annotations

import importlib
import shutil
import subprocess

import pytest

from envcheck.cli.commands import COMMANDS
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "completion"


@pytest.mark.parametrize("name", ["envcheck.bash", "_envcheck"])
def test_everything_is_known(name: str) -> None:
    """`python tools/make_completion.py` has been run since the last change of an option."""
    text = (FOLDER / name).read_text("utf-8")
    missing = []
    for command, about in COMMANDS.items():
        parser = importlib.import_module(about.module).parser()
        known = [option for action in parser._actions for option in action.option_strings]
        missing += [word for word in (command, *known) if word not in text]

    assert missing == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "last", "offered"),
    [
        ("envcheck com", 1, "compare"),
        ("envcheck compare --fail", 2, "--fail-on"),
        ("envcheck capture --ro", 2, "--root"),
    ],
)
def test_bash_completes(words: str, last: int, offered: str) -> None:
    """What is typed is completed by bash itself."""
    current = words.split()[last]
    script = (
        f"source {FOLDER / 'envcheck.bash'}; COMP_WORDS=({words}); COMP_CWORD={last};"
        f" _shtab_envcheck envcheck {current} envcheck; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)

    assert offered in done.stdout.split(), done.stderr
