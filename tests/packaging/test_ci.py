"""What CI runs is what the README tells people to run, and what we tell people is ours."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ("*.md", "*.py", "*.toml", "*.yml", "*.yaml", "*.n3", "*.json", "*.txt", "*.sh")
STRANGER = re.compile(r"\binstall(?:\s+[-\w=.]+)*\s+['\"]?envcheck(?![\w./-])")
SKIPPED = {".git", ".venv", "build", "dist", "node_modules"}


@pytest.mark.skipif(os.name == "nt", reason="CI runs under a Unix shell")
def test_ci_runs_the_command_of_the_readme(root: Path) -> None:
    """`.ci/run` takes the test command out of the README, word for word."""
    script = (root / ".ci" / "run").read_text("utf-8")
    function = re.search(r"^readme_command\(\) \{.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert function
    done = subprocess.run(
        ["bash", "-c", f"{function.group()}\nreadme_command"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    block = re.search(
        r"<!-- test-command -->\s*```\w*\n(.*?)```",
        (root / "README.md").read_text("utf-8"),
        re.DOTALL,
    )

    assert block
    assert done.stdout == block.group(1)
    assert "-m pytest" in done.stdout
    assert os.access(root / ".ci" / "run", os.X_OK)


@pytest.mark.skipif(os.name == "nt", reason="CI runs under a Unix shell")
@pytest.mark.parametrize(
    ("lines", "code", "expected"),
    [
        (["SKIPPED [1] tests/a.py:9: needs the keras extra", "== 9 passed, 1 skipped =="], 0, 1),
        (["SKIPPED [1] tests/a.py:9: could not import 'keras': no module", "== 9 passed =="], 0, 1),
        (["SKIPPED [1] tests/a.py:9: no CPython 3.8 on PATH", "== 9 passed, 1 skipped =="], 0, 0),
        (["== 9 passed =="], 0, 0),
        (["== 1 failed, 8 passed =="], 1, 1),
    ],
)
def test_slow_tests_are_not_skipped_for_want_of_a_package(
    root: Path, tmp_path: Path, lines: list[str], code: int, expected: int
) -> None:
    """In CI, a slow test that skips since a framework is missing fails the step."""
    script = (root / ".ci" / "run").read_text("utf-8")
    function = re.search(r"^slow_tests\(\) \{.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert function
    fake = tmp_path / "frameworks" / "bin" / "python"
    fake.parent.mkdir(parents=True)
    shown = "\n".join(lines)
    fake.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{shown}\nTEXT\nexit {code}\n", "utf-8")
    fake.chmod(0o755)
    places = f"tools={tmp_path}/tools frameworks={tmp_path}/frameworks"
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{places}\n{function.group()}\nslow_tests"],
        cwd=root,
        capture_output=True,
        text=True,
    )

    assert done.returncode == expected
    assert lines[-1] in done.stdout


def test_nobody_is_sent_to_a_strangers_distribution(root: Path) -> None:
    """The distribution is ml-envcheck; no text tells anyone to install `envcheck`."""
    found = [
        f"{path.relative_to(root)}: {match.group()}"
        for pattern in TEXTS
        for path in root.rglob(pattern)
        if not SKIPPED & set(path.relative_to(root).parts) and path.name != "test_ci.py"
        for match in STRANGER.finditer(path.read_text("utf-8", "replace"))
    ]

    assert found == []


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("pip install envcheck", True),
        ("python -m pip install -U 'envcheck'", True),
        ("uv tool install envcheck", True),
        ("pip install ml-envcheck", False),
        ("pip install 'ml-envcheck[onnx]' && envcheck capture", False),
        ("pip install -e . then envcheck.capture()", False),
    ],
)
def test_the_pattern_sees_what_it_is_for(text: str, *, is_wrong: bool) -> None:
    """The search finds the stranger's name and leaves ours alone."""
    assert bool(STRANGER.search(text)) is is_wrong
