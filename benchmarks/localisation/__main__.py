"""Measure false alarms on healthy programs and the naming of planted faults.

python -m benchmarks.localisation --seeds 4 --twin-seeds 2 --fault-seeds 1 -o outcomes.jsonl

Programs, twins and faults are in this folder. A line is written for each run, and runs that the
file already holds are not repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.localisation.edits import Edit, faults, programs, twins
from benchmarks.localisation.outcomes import judged, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable


def main() -> int:
    """Run what is missing and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--seeds", type=int, default=4, help="seeds per healthy program")
    add("--twin-seeds", type=int, default=2, help="seeds per benign twin")
    add("--fault-seeds", type=int, default=1, help="seeds per planted fault")
    add("--first-seed", type=int, default=0)
    add("--jobs", type=int, default=2)
    add("--only", default="", help="run titles that contain this")
    add("-o", "--output", type=Path, default=Path("localisation.jsonl"))
    options = parser.parse_args()
    done = _read(options.output)
    wanted = [
        (edit, seed)
        for edit, seed in _plan(options)
        if options.only in edit.title and (edit.title, seed) not in done
    ]
    with ThreadPoolExecutor(options.jobs) as pool, options.output.open("a") as file:
        for number, outcome in enumerate(pool.map(lambda item: judged(*item), wanted), 1):
            data = outcome.to_json()
            file.write(json.dumps(data) + "\n")
            file.flush()
            done[outcome.title, outcome.seed] = data
            _tell(number, len(wanted), data)
    _summarise(item for (title, _), item in done.items() if options.only in title)
    return 0


def _plan(options: argparse.Namespace) -> Iterable[tuple[Edit, int]]:
    first = options.first_seed
    for count, edits in (
        (options.seeds, [Edit(name, "as it is", ()) for name in programs()]),
        (options.twin_seeds, twins()),
        (options.fault_seeds, faults()),
    ):
        yield from ((edit, seed) for edit in edits for seed in range(first, first + count))


def _read(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    if not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(line["title"], line["seed"]): line for line in lines}


def _tell(number: int, of: int, data: dict[str, Any]) -> None:
    good = data["cause_first"] if data["faulty"] else not data["errors"] + data["warnings"]
    word = "ok" if good and not data["error"] else "MISS" if data["faulty"] else "ALARM"
    told = data["error"] or data["first"]
    print(f"{number}/{of} {word} {data['title']} seed {data['seed']} {told}", flush=True)


def _summarise(outcomes: Iterable[dict[str, Any]]) -> None:
    listed = list(outcomes)
    rows = [row for row in listed if not row["error"]]
    print(f"runs without a report: {len(listed) - len(rows)} of {len(listed)}")
    healthy = [row for row in rows if not row["faulty"]]
    faulty = [row for row in rows if row["faulty"]]
    for name, hits, of in (
        ("healthy runs with an error", sum(bool(r["errors"]) for r in healthy), healthy),
        ("healthy runs with a warning", sum(bool(r["warnings"]) for r in healthy), healthy),
        ("faults found", sum(r["found"] for r in faulty), faulty),
        ("faults first", sum(r["cause_first"] for r in faulty), faulty),
        ("faults with the right line", sum(r["line_right"] for r in faulty), faulty),
    ):
        low, high = wilson(hits, len(of))
        share = hits / len(of) if of else 0.0
        print(f"{name}: {hits} of {len(of)} = {share:.1%} ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    sys.exit(main())
