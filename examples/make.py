"""Make the example fingerprints: three virtual environments, each captured.

    python examples/make.py

needs CPython 3.10 and 3.11 as `python3.10` and `python3.11` on PATH (or their paths in the
variables PYTHON310 and PYTHON311), the envcheck of the interpreter that runs it, and a package
index. What is installed is in `requirements/`, to the last version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Example(NamedTuple):
    """One environment: interpreter, role, and variables that it is captured under."""

    name: str
    python: str
    role: str
    variables: dict[str, str]


EXAMPLES = (
    Example("train", "3.11", "train", {"TZ": "UTC", "LANG": "C.UTF-8"}),
    Example("prod", "3.10", "deploy", {"TZ": "UTC", "LANG": "C.UTF-8"}),
    Example("harmless", "3.11", "deploy", {"TZ": "Etc/UTC", "LANG": "en_US.UTF-8"}),
)


def interpreter(minor: str) -> str:
    """Return the path of a CPython of this minor version."""
    found = os.environ.get(f"PYTHON{minor.replace('.', '')}") or shutil.which(f"python{minor}")
    if found is None:
        raise SystemExit(f"no python{minor} on PATH")
    return found


def make(example: Example, folder: Path) -> None:
    """Build one environment below `folder` and write its fingerprint beside this script."""
    venv = folder / example.name
    subprocess.run([interpreter(example.python), "-m", "venv", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    listed = str(HERE / "requirements" / f"{example.name}.txt")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", listed], check=True)
    capture(example, python)


def capture(example: Example, python: str) -> None:
    """Write the fingerprint of an environment that exists."""
    target = str(HERE / f"{example.name}.json")
    command = [sys.executable, "-m", "envcheck", "capture", "--quiet", "--python", python]
    command += ["--role", example.role, "-o", target]
    subprocess.run(command, check=True, env={**os.environ, **example.variables})


def main() -> None:
    """Make every example anew."""
    with tempfile.TemporaryDirectory() as folder:
        for example in EXAMPLES:
            make(example, Path(folder))


if __name__ == "__main__":
    main()
