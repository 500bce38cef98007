"""Run the benchmarks: `python -m benchmarks.parity KIND [FIRST:LAST] [NAMES]`.

KIND `clean` compares clean conversions, also with every tensor name stripped; `keras` and `graph`
plant faults from the seeds FIRST to LAST (the last one left out); `two` and `three` plant so many
faults in one Keras model. Intervals are Wilson's, at 95 %.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.parity.rounds import compare, convert_here, graph_round, keras_round, renamed
from benchmarks.parity.zoo import LARGE, SMALL, build


def main(arguments: list[str]) -> None:
    """Run one kind of round and print its figures."""
    kind = arguments[0] if arguments else "clean"
    first, last = (arguments[1] if len(arguments) > 1 else "0:4").split(":")
    names = arguments[2].split(",") if len(arguments) > 2 else list(SMALL)
    if kind == "clean":
        clean(names if len(arguments) > 2 else [*SMALL, *LARGE])
        return
    seeds = range(int(first), int(last))
    if kind == "graph":
        score = graph_round(names, seeds)
    else:
        score = keras_round(names, seeds, count={"two": 2, "three": 3}.get(kind, 1))
    print(score)
    for miss in score.misses:
        print(f"  miss: {miss}")
    for part in score.partly:
        print(f"  part: {part}")


def clean(names: list[str]) -> None:
    """Compare clean conversions and print coverage, with names and without."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            model = build(name)
            path, stripped = str(Path(folder, "m.onnx")), str(Path(folder, "s.onnx"))
            inputs = convert_here(model, path)
            renamed(path, stripped)
            for label, file in (("", path), ("stripped", stripped)):
                started = time.monotonic()
                found = compare(model, file, inputs)
                total = sum(found.coverage.values())
                ratios = [e / found.noise.of(port) for port, e in found.natural.items()]
                print(
                    f"{name:<18} {label:<9} {found.verdict:<9} {total:>4} calls,"
                    f" {found.coverage['open']} open, {len(found.culprits)} faults, largest error"
                    f" {max(ratios, default=0):.2f} x noise, {time.monotonic() - started:.1f} s",
                    flush=True,
                )
                found.close()


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    main(sys.argv[1:])
