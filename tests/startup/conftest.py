"""Child environments, made once and copied by nobody: tests that change one get their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.startup.box import Box


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """Return a released environment that no test changes."""
    made = Box(tmp_path_factory.mktemp("box"))
    made.release()
    return made


@pytest.fixture
def own_box(tmp_path: Path) -> Box:
    """Return a released environment of the test's own."""
    made = Box(tmp_path)
    made.release()
    return made


@pytest.fixture(scope="session")
def unshare() -> Callable[[str], list[str]]:
    """Return a function that puts a command into namespaces of its own, after a shell script.

    Skips, visibly, where this user may not make namespaces.
    """

    def command(script: str, *flags: str) -> list[str]:
        before = ["unshare", "--mount", *flags]
        try:
            done = subprocess.run([*before, "true"], capture_output=True, timeout=30)
        except OSError:
            done = None
        if os.geteuid() != 0 or done is None or done.returncode != 0:
            pytest.skip("needs the right to make namespaces (root and unshare)")
        return [*before, "sh", "-ec", script + '\nexec "$@"', "sh"]

    return command
