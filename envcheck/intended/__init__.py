"""Environments that are only intended: requirement files and lock files, as facts."""

from __future__ import annotations

import os

from envcheck.fingerprint.document import Fingerprint
from envcheck.intended.lockfile import from_pylock
from envcheck.intended.requirements import from_requirements

__all__ = ["from_pylock", "from_requirements", "read_intended"]


def read_intended(path: str) -> Fingerprint:
    """Return the fingerprint of what a requirements file, or a pylock file, wants installed.

    It holds the packages alone; every other fact is unknown. Raises InputError.
    """
    read = from_pylock if os.path.basename(path).lower().endswith(".toml") else from_requirements
    return Fingerprint(read(path), place=path)
