"""Run the comparison: `python -m benchmarks.reasoning [--rounds N] [--deepest DEPTH]`.

Every engine runs as a whole process, in turn, several rounds; the table shows the least CPU
time of each (user and system, all children), as a multiple of the built-in engine's, and the
peak memory. The number of derived facts must be the same everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.reasoning.graphs import deep_taxonomy, realistic
from envcheck.reasoning import FactBase, Implication
from envcheck.reasoning.eye import Eye, find_eye
from envcheck.reasoning.n3 import facts_to_n3, read_triples, rules_to_n3

ROOT = Path(__file__).resolve().parents[2]
DEPTHS = (10, 100, 1_000, 10_000, 33_333)
OURS = "built-in"
EYE_OPTIONS = ("--nope", "--quiet", "--restricted", "--no-qnames", "--pass-only-new")
NPM_DEPTH_LIMIT = 10_000


@dataclass(frozen=True)
class Run:
    """What one process took, and how many facts it derived."""

    cpu: float
    peak: float
    facts: int


def main() -> int:
    """Measure everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deepest", type=int, default=DEPTHS[-1])
    parser.add_argument("--npm-deepest", type=int, default=NPM_DEPTH_LIMIT)
    options = parser.parse_args()
    engines = _engines()
    print(f"{'problem':<18}{'engine':<14}{'CPU s':>9}{'× built-in':>12}{'MiB':>8}{'facts':>9}")
    problems: dict[str, Callable[[], tuple[FactBase, list[Implication]]]]
    problems = {"realistic": realistic}
    for depth in DEPTHS:
        if depth <= options.deepest:
            problems[f"taxonomy {depth}"] = partial(deep_taxonomy, depth)
    for name, build in problems.items():
        depth = int(name.split()[-1]) if " " in name else 0
        chosen = [e for e in engines if e != "EYE npm" or depth <= options.npm_deepest]
        _measure(name, build, {e: engines[e] for e in chosen}, options.rounds)
    return 0


def _engines() -> dict[str, list[str]]:
    found = {
        OURS: [sys.executable, "-m", "benchmarks.reasoning.builtin", "facts.json"],
        "pyoxigraph": [sys.executable, "-m", "benchmarks.reasoning.sparql", "facts.nt"],
    }
    native, script = find_eye(), shutil.which("eyereasoner")
    eyes = {"EYE native": native, "EYE npm": Eye((script,)) if script else None}
    for name, eye in eyes.items():
        if eye is not None:
            found[name] = [*eye.command, *EYE_OPTIONS, "facts.nt"]
    return found


def _measure(
    name: str,
    build: Callable[[], tuple[FactBase, list[Implication]]],
    engines: dict[str, list[str]],
    rounds: int,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), *build())
        runs: dict[str, list[Run]] = {engine: [] for engine in engines}
        for _ in range(rounds):
            for engine, command in engines.items():
                runs[engine].append(_run(engine, command, Path(folder)))
    best = {engine: min(found, key=lambda run: run.cpu) for engine, found in runs.items()}
    for engine, run in best.items():
        ratio = run.cpu / best[OURS].cpu
        print(f"{name:<18}{engine:<14}{run.cpu:>9.3f}{ratio:>12.1f}{run.peak:>8.0f}{run.facts:>9}")
    counts = {run.facts for run in best.values()}
    if len(counts) != 1:
        sys.exit(f"{name}: the engines disagree: {counts}")


def _write(folder: Path, base: FactBase, rules: list[Implication]) -> None:
    facts = list(base)
    (folder / "facts.json").write_text(json.dumps(facts))
    nt = facts_to_n3(facts).replace(" a <", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <")
    (folder / "facts.nt").write_text(_typed(nt))
    (folder / "rules.json").write_text(json.dumps([rule.to_data() for rule in rules]))
    (folder / "rules.n3").write_text(rules_to_n3(rules))


def _typed(text: str) -> str:
    """Write bare numbers as N-Triples has them."""
    lines = []
    for line in text.splitlines():
        head, _, last = line.removesuffix(" .").rpartition(" ")
        if last[0] in "-0123456789":
            kind = "decimal" if "." in last else "integer"
            last = f'"{last}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'
        lines.append(f"{head} {last} .\n")
    return "".join(lines)


def _run(engine: str, command: list[str], folder: Path) -> Run:
    is_eye = engine.startswith("EYE")
    arguments = [*command, "rules.n3" if is_eye else "rules.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if status:
        sys.exit(f"{engine} exited with {process.returncode}")
    facts = sum(1 for _ in set(read_triples(text + "\n"))) if is_eye else int(text)
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, facts)


if __name__ == "__main__":
    sys.exit(main())
