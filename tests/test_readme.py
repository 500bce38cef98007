"""Everything that the README and the docs show is run, and prints what they show."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GAP = "…"


def blocks(page: Path, kind: str) -> list[str]:
    """Return the fenced blocks of a kind."""
    text = page.read_text(encoding="utf-8")
    return [body for language, body in _FENCE.findall(text) if language == kind]


def steps(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a console block, each with the lines it should print."""
    out: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif out:
            out[-1][1].append(line)
    return out


def fits(shown: list[str], printed: list[str]) -> bool:
    """Return whether the printed lines are the shown ones, `…` standing for any lines."""
    if not shown:
        return not printed
    if shown[0] == GAP:
        return any(fits(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and printed[0] == shown[0] and fits(shown[1:], printed[1:])


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """Return a folder with the examples in it, to run commands in."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("docs", "rules"):
        if (ROOT / name).is_dir():
            (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command as the reader would, with this interpreter's `envcheck` first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_console_blocks_print_what_they_show(page: Path, workplace: Path) -> None:
    """Each command, in order and in one folder, prints the shown lines on stdout and stderr."""
    for block in blocks(page, "console"):
        for command, shown in steps(block):
            result = run(command, workplace)
            printed = (result.stdout + result.stderr).splitlines()

            assert fits(shown, printed), f"$ {command}\n" + "\n".join(printed)
            assert result.returncode in (0, 1), f"$ {command}\n{result.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page: Path, workplace: Path) -> None:
    """Each Python block runs on its own from the top of a checkout."""
    for block in blocks(page, "python"):
        result = run(f"python -c {shlex.quote(block)}", workplace)

        assert result.returncode == 0, block + result.stderr


def test_readme_python_example_names_the_root_cause(workplace: Path) -> None:
    """The example prints the verdict, the rule and the package."""
    (block,) = blocks(ROOT / "README.md", "python")

    result = run(f"python -c {shlex.quote(block)}", workplace)
    assert result.stdout == "does_not_conform ENV031 package.scikit-learn\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that exists."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_command_of_the_readme_table_is_known(workplace: Path) -> None:
    """The commands in the table of comparisons parse: none ends in a usage error."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"\| `(envcheck [^`]+)`", text)

    assert len(commands) >= 5
    for command in commands:
        name, *options = shlex.split(command)[1:]
        shown = run(f"envcheck {name} --help", workplace).stdout
        for option in options:
            if option.startswith("--"):
                assert option in shown, f"{command}: {option} is not an option of {name}"


@pytest.mark.slow
def test_run_command_sets_up_and_runs_the_main_job(tmp_path: Path) -> None:
    """The one command of the README works in a fresh clone with a fresh environment."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, timeout=120)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- run-command -->\n```bash\n(.*?)\n```", text, re.DOTALL)
    assert found is not None

    result = run(found[1], clone)

    assert "error ENV031 scikit-learn 1.3.2 reads models that 1.5.2 wrote" in result.stdout
    assert result.stdout.count("train   examples/train.json") == 2
    assert "Traceback" not in result.stderr
