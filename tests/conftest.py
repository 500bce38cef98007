"""Fixtures that every test folder shares."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MINORS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def _expose_top_level_folders() -> None:
    """Let `envcheck.probes` and `envcheck.rules` resolve in a checkout that is not installed."""
    package = importlib.import_module("envcheck")
    if importlib.util.find_spec("envcheck.probes") is None:
        package.__path__.append(str(ROOT))


_expose_top_level_folders()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def _plain_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's own envcheck and colour settings out of every test."""
    for name in list(os.environ):
        keep = name.startswith("ENVCHECK_EYE")
        if (name.startswith("ENVCHECK_") and not keep) or name in {"FORCE_COLOR", "NO_COLOR"}:
            monkeypatch.delenv(name)


class Interpreters(Mapping[str, Path]):
    """The CPython interpreters of this machine by minor version.

    `interpreters["3.9"]` skips the test, visibly, where that interpreter is missing;
    `"3.9" in interpreters` asks without skipping.
    """

    def __init__(self, found: Mapping[str, Path]) -> None:
        self._found = dict(found)

    def __getitem__(self, minor: str) -> Path:
        """Return the interpreter, or skip the running test."""
        if minor not in self._found:
            pytest.skip(f"no CPython {minor} on PATH, under pyenv or under uv")
        return self._found[minor]

    def __contains__(self, minor: object) -> bool:
        """Return whether the interpreter is there."""
        return minor in self._found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the minor versions found, oldest first."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many were found."""
        return len(self._found)


@pytest.fixture(scope="session")
def interpreters() -> Interpreters:
    """Return the side-by-side interpreters that can be started."""
    found = {}
    for minor in MINORS:
        for candidate in _candidates(minor):
            if _starts(candidate, minor):
                found[minor] = candidate
                break
    return Interpreters(found)


def _candidates(minor: str) -> Iterator[Path]:
    """Yield where a CPython of this minor version may be."""
    if minor == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(getattr(sys, "_base_executable", sys.executable))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{minor}.*/bin/python"), reverse=True)
    uv = Path.home() / ".local/share/uv/python"
    yield from sorted(uv.glob(f"cpython-{minor}.*/bin/python{minor}"), reverse=True)
    on_path = shutil.which(f"python{minor}")
    if on_path:
        yield Path(on_path)


def _starts(executable: Path, minor: str) -> bool:
    """Return whether this is a working CPython of that minor version (a pyenv shim may not be)."""
    code = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [str(executable), "-I", "-c", code], capture_output=True, text=True, timeout=30
        )
    except OSError:
        return False
    return done.stdout.split() == ["cpython", minor]
