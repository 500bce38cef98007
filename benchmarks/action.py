"""Time how soon the action starts its check, beside an action that installs the tool first.

    python benchmarks/action.py --rounds 5

Each round runs both ways once: `action/start.sh` as the runner starts it, and what an installing
action does, `python -m venv` and `pip install` of the wheel with its dependencies, then the same
comparison with the installed command. The time to the start of the check is what counts; it is
read off the first line of the comparison. Dependencies come from the package index or its cache.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.startup import build_wheel

ROOT = Path(__file__).resolve().parents[1]
TRAIN, DEPLOY = ("examples/train.json", "examples/harmless.json")
PARTS = ("action.yml", "action", "envcheck", "probes", "rules")
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
TARGET = 0.1


@dataclass(frozen=True)
class Round:
    """Seconds of one round: until a check has started, and until it was done."""

    ours_start: float
    ours_done: float
    installing_start: float
    installing_done: float


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit 1 with --check when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--check", action="store_true", help="exit 1 when the target is missed")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="envcheck-action-") as scratch:
        folder = Path(scratch)
        wheel, action = build_wheel(folder), checkout(folder / "action")
        rounds = [measure(folder / f"round-{n}", wheel, action) for n in range(options.rounds)]
    print(table(rounds))
    return 1 if options.check and ratio(rounds) > TARGET else 0


def checkout(folder: Path) -> Path:
    """Copy what a checkout of the action holds; without byte code, as the runner gets it."""
    folder.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def measure(folder: Path, wheel: Path, action: Path) -> Round:
    """Run both ways once."""
    folder.mkdir()
    environ = {
        **CLEAN, "GITHUB_WORKSPACE": str(ROOT), "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "out"), "INPUT_TRAIN": TRAIN, "INPUT_DEPLOY": DEPLOY,
    }  # fmt: skip
    start = time.perf_counter()
    ours = ["sh", "-e", str(action / "action" / "start.sh")]
    ours_start, ours_done = until(ours, b"::stop-commands::", environ, start)
    start = time.perf_counter()
    run([sys.executable, "-m", "venv", str(folder / "venv")])
    scripts = folder / "venv" / "bin"
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    run([*pip, "--disable-pip-version-check"])
    command = [str(scripts / "envcheck"), "compare", TRAIN, DEPLOY]
    installing_start = time.perf_counter() - start
    _, installing_done = until(command, b"CONFORMS", CLEAN, start)
    return Round(ours_start, ours_done, installing_start, installing_done)


def until(
    command: list[str], mark: bytes, environ: dict[str, str], start: float
) -> tuple[float, float]:
    """Run a command; return the seconds since `start` until the mark is read and until its end."""
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE)
    assert process.stdout
    first = 0.0
    for line in process.stdout:
        if not first and line.startswith(mark):
            first = time.perf_counter() - start
    if process.wait() != 0 or not first:
        sys.exit(f"{' '.join(command)}: exit {process.returncode}, or no line {mark!r}")
    return first, time.perf_counter() - start


def run(command: list[str]) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True, env=CLEAN, timeout=600)


def ratio(rounds: list[Round]) -> float:
    """Return our time to the start of the check as part of the installing action's."""
    return median(one.ours_start / one.installing_start for one in rounds)


def table(rounds: list[Round]) -> str:
    """Return the figures as a Markdown table."""

    def spread(values: list[float]) -> str:
        return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"

    def row(name: str, start: str, end: str) -> str:
        return f"| {name} | {start} | {end} |"

    start, end = ratio(rounds), median(one.ours_done / one.installing_done for one in rounds)
    lines = [
        row("", "seconds to the start of the check", "seconds to the end"),
        "|---|---|---|",
        row("this action", spread([one.ours_start for one in rounds]),
            spread([one.ours_done for one in rounds])),
        row("installing with pip", spread([one.installing_start for one in rounds]),
            spread([one.installing_done for one in rounds])),
        row("ratio", f"{start:.3f} (1 : {1 / start:.0f})", f"{end:.3f} (1 : {1 / end:.0f})"),
        "",
        f"{len(rounds)} rounds, medians and extremes; target for the start: {TARGET:g}.",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
