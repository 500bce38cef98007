"""Capture the base environments of the cases anew, with the probes as they are now.

    python -m tests.rules.make_bases [NAME …]

Each fingerprint says what it holds, so each environment is built from its own fingerprint:
the interpreter (`python3.11` on PATH, or the variable PYTHON311) and every distribution to the
last version. The pair `sklearn` is that of the examples and is copied from there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from envcheck.fingerprint.reading import read_fingerprint
from tests.rules.reading import ENVIRONMENT, ROOT

BASES = ENVIRONMENT / "cases" / "base"
COPIES = {"sklearn.train": "train", "sklearn.deploy": "harmless"}
ZONES = {"train": "UTC", "deploy": "Etc/UTC"}
TOOLS = ("pip", "setuptools")


def main(names: list[str]) -> None:
    """Make the named ones, or all."""
    for path in sorted(BASES.glob("*.json")):
        if names and path.stem not in names:
            continue
        if path.stem in COPIES:
            shutil.copyfile(ROOT / "examples" / f"{COPIES[path.stem]}.json", path)
        else:
            with tempfile.TemporaryDirectory() as folder:
                capture(path, build(path, Path(folder)))


def build(path: Path, folder: Path) -> Path:
    """Build the environment that a fingerprint describes and return its interpreter."""
    side = read_fingerprint(str(path))
    minor = ".".join(side.fact("python.version").value.split(".")[:2])
    name = f"python{minor}"
    found = os.environ.get(name.upper().replace(".", "")) or shutil.which(name)
    if found is None:
        raise SystemExit(f"no {name} on PATH")
    subprocess.run([found, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    wanted = [
        f"{name}=={fact.value['version']}"
        for name, fact in side.family("package").items()
        if name not in TOOLS
    ]
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", *wanted]
    subprocess.run(command, check=True)
    return python


def capture(path: Path, python: Path) -> None:
    """Write the fingerprint of an environment."""
    role = path.stem.partition(".")[2]
    command = [sys.executable, "-m", "envcheck", "capture", "--quiet", "--python", str(python)]
    command += ["--role", role, "-o", str(path)]
    subprocess.run(command, check=True, env={**os.environ, "TZ": ZONES[role]})


if __name__ == "__main__":
    main(sys.argv[1:])
