"""Every command explains itself, with an example, without any installed package."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RUN = """
import sys
sys.path.insert(0, {root!r})
import envcheck
envcheck.__path__.append({root!r})
from envcheck.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_every_help_teaches(root: Path) -> None:
    """`envcheck --help` lists the commands, and each command's help shows how it is called."""
    overview = help_of(root)
    commands = re.search(r"\{([a-z][a-z,-]*)\}", overview)

    assert commands, f"no list of commands in:\n{overview}"
    for command in commands.group(1).split(","):
        text = help_of(root, command)
        assert f"usage: envcheck {command}" in text
        assert re.search(
            rf"^\s+(\$ )?.*envcheck {command}\b", text.partition("\n")[2], re.MULTILINE
        ), f"no example in the help of {command}:\n{text}"


def help_of(root: Path, *command: str) -> str:
    """Return a help text, which must come on stdout with exit code 0."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", RUN.format(root=str(root)), *command, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
