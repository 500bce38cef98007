"""Compare all tensors of two ONNX Runtime sessions, here and with Polygraphy, side by side.

    python -m benchmarks.parity.peers MODEL.onnx [ROUNDS]

Each run is a process of its own; the tools take turns. Prints the wall time of the comparison
(imports left out) and the peak memory of the process, as ratios to Polygraphy's.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

_HERE = """
import json, resource, sys, time
import numpy as np
import onnxruntime
from envcheck.conversion.arrays import relative_error
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import Store
start = time.monotonic()
first = open_file({path!r}, Settings(level="none", budget={budget}))
second = open_file({path!r}, Settings(level="all", budget={budget}))
feeds = {{f.name: np.random.default_rng(0).standard_normal(
    [s or 1 for s in f.shape]).astype(f.dtype) for f in first.inputs}}
a, b = Store({budget}), Store({budget})
first.run_all(feeds, a), second.run_all(feeds, b)
made = [t.name for t in first.tensors() if t.order >= 0]
worst = max(relative_error(b.get(n), a.get(n)) for n in made)
"""
_POLYGRAPHY = """
import json, resource, sys, time
import onnx, onnxruntime
import numpy as np
from polygraphy.backend.onnx import ModifyOutputs
from polygraphy.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
from polygraphy.comparator import Comparator, CompareFunc
from polygraphy import constants
from polygraphy.logger import G_LOGGER
G_LOGGER.module_severity = G_LOGGER.CRITICAL
start = time.monotonic()
model = onnx.load({path!r})
feeds = [{{i.name: np.random.default_rng(0).standard_normal(
    [d.dim_value or 1 for d in i.type.tensor_type.shape.dim]).astype("float32")
    for i in model.graph.input}}]
marked = lambda: ModifyOutputs(lambda: onnx.load({path!r}), outputs=constants.MARK_ALL)
runners = [OnnxrtRunner(SessionFromOnnx(lambda: marked()().SerializeToString())) for _ in range(2)]
results = Comparator.run(runners, data_loader=feeds)
Comparator.compare_accuracy(results, compare_func=CompareFunc.simple())
made = [name for node in model.graph.node for name in node.output]
"""
_TAIL = """
print(json.dumps({"seconds": time.monotonic() - start, "tensors": len(made),
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def main(path: str, rounds: int) -> None:
    """Let the tools take turns and print medians and ratios."""
    codes = {
        "polygraphy": _POLYGRAPHY.format(path=path),
        "envcheck": _HERE.format(path=path, budget=512 << 20),
        "envcheck, streaming": _HERE.format(path=path, budget=1 << 20),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            done = subprocess.run(
                [sys.executable, "-c", code + _TAIL], capture_output=True, text=True, check=True
            )
            found[name].append(json.loads(done.stdout.splitlines()[-1]))
    base = _medians(found["polygraphy"])
    for name, results in found.items():
        seconds, peak = _medians(results)
        print(
            f"{name:<20} {results[0]['tensors']:.0f} tensors, {seconds:.2f} s"
            f" ({seconds / base[0]:.2f} x), peak {peak / 2**20:.0f} MiB ({peak / base[1]:.2f} x)"
        )


def _medians(results: list[dict[str, float]]) -> tuple[float, float]:
    return (
        statistics.median(result["seconds"] for result in results),
        statistics.median(result["peak"] for result in results),
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
