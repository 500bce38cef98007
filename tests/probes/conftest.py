"""Recorded hosts: folders under tests/hosts that hold the files of other machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from envcheck.probing.host import Host

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = Path(__file__).resolve().parents[1] / "hosts"


@pytest.fixture
def recorded() -> Callable[..., Host]:
    """Return a function that gives a recorded host by name, perhaps with variables."""

    def load(name: str, environ: dict[str, str] | None = None) -> Host:
        assert (HOSTS / name).is_dir(), name
        return Host(str(HOSTS / name), environ=environ)

    return load


@pytest.fixture
def empty(tmp_path: Path) -> Host:
    """Return a host without a single file."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return Host(str(folder))
