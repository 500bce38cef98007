"""Compare all tensors of two ONNX Runtime sessions, here and with Polygraphy, side by side.

    python -m benchmarks.parity.peers [MODEL.onnx|resnet50|encoder]... [ROUNDS]

The named models are built with random weights and converted first: ResNet50 at 224 pixels, and an
encoder of four blocks of attention over 512 tokens. Each run is a process of its own; the tools
take turns, and so do the models. Prints the wall time of the comparison (imports left out) and
the peak memory of the process, as ratios to Polygraphy's.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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
    [d.dim_value or 1 for d in i.type.tensor_type.shape.dim]).astype(
        onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type))
    for i in model.graph.input}}]
marked = lambda: ModifyOutputs(lambda: onnx.load({path!r}), outputs=constants.MARK_ALL)
runners = [OnnxrtRunner(SessionFromOnnx(lambda: marked()().SerializeToString())) for _ in range(2)]
results = Comparator.run(runners, data_loader=feeds)
Comparator.compare_accuracy(results, compare_func=CompareFunc.simple())
made = [name for node in model.graph.node for name in node.output]
"""
_CONVERT = """
from benchmarks.parity.rounds import convert_here
from benchmarks.parity.zoo import build
convert_here(build({name!r}), {path!r})
"""
_TAIL = """
print(json.dumps({"seconds": time.monotonic() - start, "tensors": len(made),
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def main(arguments: list[str]) -> None:
    """Let the tools take turns on each model and print medians and ratios."""
    rounds = int(arguments.pop()) if arguments and arguments[-1].isdigit() else 3
    with tempfile.TemporaryDirectory() as folder:
        paths = [_path(name, folder) for name in arguments or ["resnet50", "encoder"]]
        codes = {path: _codes(path) for path in paths}
        found: dict[tuple[str, str], list[dict[str, float]]] = {}
        for _ in range(rounds):
            for path, tools in codes.items():
                for tool, code in tools.items():
                    found.setdefault((path, tool), []).append(json.loads(_output(code + _TAIL)))
    for (path, tool), results in found.items():
        seconds, peak = _medians(results)
        base = _medians(found[path, "polygraphy"])
        print(
            f"{Path(path).stem:<10} {tool:<20} {results[0]['tensors']:.0f} tensors, {seconds:.2f} s"
            f" ({seconds / base[0]:.2f} x), peak {peak / 2**20:.0f} MiB ({peak / base[1]:.2f} x)"
        )


def _path(name: str, folder: str) -> str:
    """Return the path of a model; a named one is built and converted in a process of its own."""
    if name.endswith(".onnx"):
        return name
    path = str(Path(folder, f"{name}.onnx"))
    _output(_CONVERT.format(name=name, path=path))
    return path


def _codes(path: str) -> dict[str, str]:
    return {
        "polygraphy": _POLYGRAPHY.format(path=path),
        "envcheck": _HERE.format(path=path, budget=512 << 20),
        "envcheck, streaming": _HERE.format(path=path, budget=1 << 20),
    }


def _output(code: str) -> str:
    """Run code in a process of its own; return the last line of its output."""
    silent = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True,
        env={**os.environ, **silent},
    )  # fmt: skip
    return (done.stdout.splitlines() or [""])[-1]


def _medians(results: list[dict[str, float]]) -> tuple[float, float]:
    return (
        statistics.median(result["seconds"] for result in results),
        statistics.median(result["peak"] for result in results),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
