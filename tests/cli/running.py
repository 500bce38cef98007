"""Run the command line as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PROGRAM", "envcheck", "only_message"]

_CODE = (
    "import sys; sys.path[0] = {root!r}; import envcheck\n"
    "try: import envcheck.probes\n"
    "except ImportError: envcheck.__path__.append({root!r})\n"
    "from envcheck.cli import main; sys.exit(main())"
)
PROGRAM = [sys.executable, "-B", "-c", _CODE.format(root=str(ROOT))]


def envcheck(
    *arguments: str | Path,
    cwd: Path | str | None = None,
    environ: dict[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Return what `envcheck ARGUMENTS` did. Standard input is empty unless `input` is given."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,  # a framework takes a minute to load on a busy machine
        **options,
    )


def only_message(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """Return the one message of a failed run, having checked how it was told."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert sum(line.startswith("envcheck") for line in lines) == 1, done.stderr
    assert lines[0].startswith("envcheck"), done.stderr
    assert sum(line.startswith("hint: ") for line in lines) == 1, done.stderr
    assert "\x1b" not in done.stderr
    return done.stderr
