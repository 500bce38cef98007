"""The installed reference engines."""

from __future__ import annotations

import os
import shutil

import pytest

from envcheck.reasoning.eye import Eye, find_eye


def _installed() -> list[Eye]:
    """Return EYE as envcheck finds it, and the npm build beside it if that is on PATH too."""
    found = [eye for eye in [find_eye()] if eye is not None]
    script = shutil.which("eyereasoner")
    if script and Eye((script,)) not in found:
        found.append(Eye((script,)))
    return found


@pytest.fixture(scope="session")
def eyes() -> list[Eye]:
    """Return all installed EYEs; without one, skip, or fail where CI is to have it."""
    found = _installed()
    if not found:
        message = "EYE is not installed: apt-get install eye, or npm install eyereasoner"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def eye(eyes: list[Eye]) -> Eye:
    """Return the EYE that envcheck uses."""
    return eyes[0]
