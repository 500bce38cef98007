"""Run what the pages show, word for word."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT

__all__ = ["blocks", "commands_in", "script"]


def blocks(page: str) -> list[str]:
    """Return the shell blocks of a page, in order."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def script(path: Path, line: str) -> None:
    """Write a shell script that may be run."""
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def commands_in(
    folder: Path, block: str, program: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run a block in a folder, where `envcheck` and `python` are those of the test."""
    place = folder / ".bin"
    place.mkdir(exist_ok=True)
    script(place / "envcheck", f'exec {" ".join(map(shlex.quote, program))} "$@"')
    script(place / "python", f'exec {shlex.quote(sys.executable)} "$@"')
    environ = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-ec", block], cwd=folder, env=environ, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip
