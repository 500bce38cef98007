"""A child environment to start things in: its own interpreter, distributions and variables."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from benchmarks.fabricated import distributions, install
from benchmarks.startup import lend_packaging
from tests.cli.running import PROGRAM

__all__ = ["Box", "events", "started"]

APPLICATION = "import os; print('started', os.getpid())"


class Box:
    """A virtual environment with made-up distributions, and the files of a release beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.venv = folder / "venv"
        venv.create(self.venv, symlinks=True)
        self.python = self.venv / "bin" / "python"
        self.site = next(self.venv.glob("lib/python*/site-packages"))
        lend_packaging(self.site)
        install(self.site, distributions(12))
        self.add("tool", {"tool/__init__.py": "VALUE = 1\n"})
        self.add("numpy", {"numpy/__init__.py": ""})
        self.add("tensorflow", {"tensorflow/__init__.py": ""}, "numpy")
        self.train = folder / "train.json"
        self.seal = folder / "seal.json"
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TZ": "UTC"}

    def add(self, name: str, files: dict[str, str], *requires: str) -> None:
        """Install a distribution with files that its RECORD really describes."""
        import base64
        import hashlib

        lines = []
        for path, text in files.items():
            target = self.site / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            lines.append(f"{path},sha256={digest.decode().rstrip('=')},{len(text)}")
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        head = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
        head += [f"Requires-Dist: {other}" for other in requires]
        (info / "METADATA").write_text("\n".join([*head, "", ""]))
        (info / "RECORD").write_text("\n".join([*lines, f"{name}-1.0.dist-info/RECORD,,", ""]))

    def lend(self, *modules: str) -> None:
        """Give the environment modules of this interpreter, with their metadata, as links."""
        for name in modules:
            found = importlib.util.find_spec(name)
            assert found is not None
            assert found.origin is not None
            place = Path(found.origin)
            place = place.parent if place.name == "__init__.py" else place
            infos = place.parent.glob(f"{name}-*.dist-info")
            for source in (place, *infos):
                (self.site / source.name).symlink_to(source)

    def remove(self, name: str) -> None:
        """Uninstall a distribution."""
        for path in self.site.glob(f"{name}-*.dist-info"):
            shutil.rmtree(path)

    @property
    def program(self) -> list[str]:
        """The command line of `envcheck` in this environment."""
        return [str(self.python), *PROGRAM[1:]]

    def run(
        self, *arguments: object, environ: dict[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Return what `envcheck ARGUMENTS` did in here; `before` is put in front."""
        before = options.pop("before", [])
        options.setdefault("cwd", self.folder)
        return subprocess.run(
            [*before, *self.program, *map(str, arguments)],
            env={**self.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            **options,
        )

    def release(self, *, seal: bool = True, environ: dict[str, str] | None = None,
                model: Path | None = None) -> None:  # fmt: skip
        """Write the train fingerprint and, from a fingerprint of the same place, the seal."""
        extra = ["--model", model] if model else []
        done = self.run("capture", "--role", "train", *extra, "-o", self.train, environ=environ)
        assert done.returncode == 0, done.stderr
        if seal:
            done = self.run("compare", self.train, self.train, "--seal", self.seal, environ=environ)
            assert done.returncode == 0, done.stderr

    def execute(
        self, *options: object, environ: dict[str, str] | None = None, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Return what `envcheck exec OPTIONS -- APPLICATION` did."""
        application = [sys.executable, "-c", APPLICATION]
        return self.run("exec", *options, "--", *application, environ=environ, **more)

    @property
    def sealed(self) -> list[object]:
        """The options of a sealed start."""
        return ["--train", self.train, "--seal", self.seal]


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return the log lines of a self-test, each of which must be one JSON object."""
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert all(list(item)[:3] == ["ts", "level", "event"] for item in found), found
    return found


def started(done: subprocess.CompletedProcess[str]) -> bool:
    """Return whether the application was started."""
    return done.stdout.startswith("started ")
