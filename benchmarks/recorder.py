"""Time `fit` with and without the recorder, in interleaved pairs of processes.

    python benchmarks/recorder.py --pairs 10 --seconds 30

Each pair runs the same program once as `python program` and once under `envcheck localise`, in
an order that alternates, with one thread; the program times its own `fit`. Figures are medians
over the pairs of the ratio of the two, with the interval between two order statistics that
holds the true median with the stated confidence, whatever the distribution.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from math import comb
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).resolve().parent / "programs" / "recorded_fit.py"
KINDS = ("mlp", "cnn", "lstm")
TARGET = 1.05
LEVEL = 0.95
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit 1 with --check when a median is above the target."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=10, help="pairs of fits (default: 10)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of one fit (default: 30)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all three")
    parser.add_argument("--check", action="store_true", help="exit 1 when the target is missed")
    options = parser.parse_args(arguments)
    missed = False
    print("| network | time | seconds | median ratio | interval | confidence | pairs |")
    print("|---|---|---|---|---|---|---|")
    for kind in options.kind or KINDS:
        epochs = epochs_for(kind, options.seconds)
        pairs = [pair(kind, epochs, turn) for turn in range(options.pairs)]
        for clock in ("wall", "cpu"):
            ratios = [recorded[clock] / plain[clock] for plain, recorded in pairs]
            seconds = median(plain[clock] for plain, _ in pairs)
            print(row(kind, clock, seconds, ratios), flush=True)
            missed = missed or median(ratios) > TARGET
    return 1 if missed and options.check else 0


def epochs_for(kind: str, seconds: float) -> int:
    """Return the epochs after which a plain fit has taken about so many seconds."""
    few, more = (run(kind, epochs, recorded=False)["wall"] for epochs in (3, 13))
    return max(2, round(seconds / max(1e-3, (more - few) / 10)))


def pair(kind: str, epochs: int, turn: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return what a plain and a recorded fit took; every other pair begins with the recorded."""
    order = (False, True) if turn % 2 == 0 else (True, False)
    taken = {recorded: run(kind, epochs, recorded=recorded) for recorded in order}
    return taken[False], taken[True]


def run(kind: str, epochs: int, *, recorded: bool) -> dict[str, float]:
    """Return the seconds of one fit, by clock."""
    prefix = ["-m", "envcheck", "localise", "-q", "-o", os.devnull, "--script-exit"]
    command = [sys.executable, *(prefix if recorded else []), str(PROGRAM), kind, str(epochs)]
    done = subprocess.run(
        command, check=False, env=ENVIRONMENT, capture_output=True, text=True, timeout=3600
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    taken: dict[str, float] = json.loads(done.stdout)
    return taken


def interval(values: list[float], level: float = LEVEL) -> tuple[float, float, float]:
    """Return the tightest symmetric order statistics around the median, and their confidence.

    The k-th smallest and k-th largest of n values hold the median with probability
    1 - 2·P(B < k), B binomial(n, 1/2). With too few values for the level the extremes serve.
    """
    ordered, count = sorted(values), len(values)
    best = (ordered[0], ordered[-1], 1.0 - 2.0 * 0.5**count)
    for rank in range(1, count // 2 + 1):
        below = sum(comb(count, successes) for successes in range(rank)) / 2**count
        if 1.0 - 2.0 * below < level:
            break
        best = (ordered[rank - 1], ordered[-rank], 1.0 - 2.0 * below)
    return best


def row(kind: str, clock: str, seconds: float, ratios: list[float]) -> str:
    """Return one line of the table."""
    low, high, confidence = interval(ratios)
    cells = (
        kind, clock, f"{seconds:.1f}", f"{median(ratios):.3f}", f"{low:.3f} to {high:.3f}",
        f"{100 * confidence:.1f} %", str(len(ratios)),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
