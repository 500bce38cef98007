"""News fragments have a name that says what they are, and a text for users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAME = re.compile(r"\d+\.(security|removed|deprecated|added|changed|fixed)(\.\d+)?\.md")


def test_fragments(root: Path) -> None:
    """A fragment is named `<number>.<kind>.md` and holds sentences, one a line, no heading."""
    problems = []
    for path in sorted((root / "changelog.d").iterdir()):
        if path.name == "README.md":
            continue
        lines = path.read_text("utf-8").splitlines()
        if not NAME.fullmatch(path.name):
            problems.append(f"{path.name}: the name is not <number>.<kind>.md")
        if not lines:
            problems.append(f"{path.name}: empty")
        problems += [
            f"{path.name}:{number}: not a sentence on a line of its own"
            for number, line in enumerate(lines, 1)
            if line.startswith("#") or not line.endswith(".")
        ]

    assert problems == []
