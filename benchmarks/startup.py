"""Time `envcheck capture` and `envcheck compare` as whole processes, beside what people know.

    python benchmarks/startup.py --runs 15

Each round runs every command once, in turn, so that a busy moment hits all of them. Figures are
medians over the rounds of the ratio to `python -c pass` in the same round. CPU is user plus
system time of the process and its children; it says how much work a command is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.fabricated import distributions, install

ROOT = Path(__file__).resolve().parents[1]
SIZES = (50, 500)
CHANGED = {50: 6, 500: 60}
BASELINE = "python -c pass"
TARGETS = {
    ("envcheck capture", 500): 10.0,
    ("envcheck compare", 500): 12.0,
    ("envcheck selftest, sealed", 500): 10.0,
    ("envcheck selftest, rules", 500): 20.0,
}
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


@dataclass(frozen=True)
class Sample:
    """What one process cost, in seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Row:
    """One command at one size, over all rounds."""

    command: str
    size: int
    cpu_ms: float
    cpu_ratio: float
    cpu_spread: float
    wall_ratio: float

    @property
    def target(self) -> float | None:
        """The most that its ratio of CPU time should be."""
        return TARGETS.get((self.command, self.size))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit 1 with --check when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="rounds (default: 15)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument("--keep", type=Path, help="make the environments here and keep them")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="envcheck-startup-") as scratch:
        rows = measure(options.keep or Path(scratch), options.runs)
    print(table(rows))
    missed = [row for row in rows if row.target is not None and row.cpu_ratio > row.target]
    for row in missed:
        print(f"missed: {row.command} at {row.size}: {row.cpu_ratio:.1f} > {row.target}")
    return 1 if missed and options.check else 0


def measure(folder: Path, runs: int) -> list[Row]:
    """Return a row for every command at every size."""
    wheel = build_wheel(folder)
    rows = []
    for size in SIZES:
        commands = prepare(folder / str(size), wheel, size)
        for command in commands.values():
            run(command)  # fills caches and writes bytecode
        samples: dict[str, list[Sample]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                samples[name].append(run(command))
        rows += [summary(name, size, samples) for name in commands]
    return rows


def prepare(folder: Path, wheel: Path, size: int) -> dict[str, list[str]]:
    """Make the environments of one size; return the commands to run in them."""
    train = environment(folder / "train", wheel, size, 0)
    deploy = environment(folder / "deploy", wheel, size, CHANGED[size])
    files = {"train": folder / "train.json", "deploy": folder / "deploy.json"}
    for name, scripts in (("train", train), ("deploy", deploy)):
        check([str(scripts / "envcheck"), "capture", "-o", str(files[name])], {0})
    python, envcheck = str(train / "python"), str(train / "envcheck")
    seal = str(folder / "seal.json")
    check([envcheck, "compare", str(files["train"]), "live", "--seal", seal], {0})
    selftest = [envcheck, "selftest", "--train", str(files["train"])]
    return {
        BASELINE: [python, "-c", "pass"],
        "envcheck capture": [str(train / "envcheck"), "capture", "-o", str(folder / "out.json")],
        "envcheck compare": [
            str(train / "envcheck"), "compare", str(files["train"]), str(files["deploy"]),
        ],
        "envcheck selftest, sealed": [*selftest, "--seal", seal],
        "envcheck selftest, rules": selftest,
        "pip check": [python, "-m", "pip", "check"],
        "pip freeze": [python, "-m", "pip", "freeze"],
        "pip inspect": [python, "-m", "pip", "inspect"],
    }  # fmt: skip


def environment(folder: Path, wheel: Path, size: int, changed: int) -> Path:
    """Make a venv with pip, envcheck and `size` made-up distributions; return its scripts."""
    venv.create(folder, with_pip=True)
    scripts = folder / "bin"
    site_packages = next(folder.glob("lib/python*/site-packages"))
    pip = [str(scripts / "python"), "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    check([*pip, "--disable-pip-version-check", str(wheel)], {0})
    lend_packaging(site_packages)
    install(site_packages, distributions(size, changed=changed))
    return scripts


def lend_packaging(site_packages: Path) -> None:
    """Give the environment the `packaging` of this interpreter, as an install would."""
    import packaging

    source = Path(packaging.__file__).parent
    shutil.copytree(source, site_packages / "packaging", dirs_exist_ok=True)
    for info in source.parent.glob("packaging-*.dist-info"):
        shutil.copytree(info, site_packages / info.name, dirs_exist_ok=True)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout."""
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=NOT_SOURCE, dirs_exist_ok=True)
    out = folder / "wheel"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    check([*build, str(tree)], {0})
    return next(out.glob("*.whl"))


def check(command: list[str], accepted: set[int]) -> None:
    """Run a command outside the measurement; stop if it does not do its work."""
    done = subprocess.run(
        command, check=False, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    if done.returncode not in accepted:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def run(command: list[str]) -> Sample:
    """Run one command with its output thrown away; return what it cost."""
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=streams)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    os.close(null)
    code = os.waitstatus_to_exitcode(status)
    if code not in {0, 1}:
        sys.exit(f"{' '.join(command)}: exit {code}")
    return Sample(cpu=usage.ru_utime + usage.ru_stime, wall=wall)


def summary(name: str, size: int, samples: dict[str, list[Sample]]) -> Row:
    """Return the medians of one command, as multiples of the baseline in the same round."""
    rounds = list(zip(samples[name], samples[BASELINE], strict=True))
    ratios = [mine.cpu / base.cpu for mine, base in rounds]
    quarter = quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    return Row(
        command=name,
        size=size,
        cpu_ms=1000 * median(mine.cpu for mine, _ in rounds),
        cpu_ratio=median(ratios),
        cpu_spread=quarter[2] - quarter[0],
        wall_ratio=median(mine.wall / base.wall for mine, base in rounds),
    )


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| command | distributions | CPU, × pass | quartile spread | wall, × pass | target |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        target = f"≤ {row.target:g}" if row.target is not None else ""
        lines.append(
            f"| `{row.command}` | {row.size} | {row.cpu_ratio:.1f} | {row.cpu_spread:.1f} "
            f"| {row.wall_ratio:.1f} | {target} |"
        )
    base = median(row.cpu_ms for row in rows if row.command == BASELINE)
    return "\n".join([*lines, "", f"`{BASELINE}` took {base:.0f} ms of CPU time here."])


if __name__ == "__main__":
    sys.exit(main())
