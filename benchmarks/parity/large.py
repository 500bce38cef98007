"""Peak memory of comparing a large Keras model with a given candidate, beside loading it alone.

    python -m benchmarks.parity.large [MEGABYTES] [single|external]

The model is a chain of Dense layers, written with its ONNX file (its weights inside, or in a file
beside it). Each run is a process of its own; memory is the resident size of it and all that it
starts, together, sampled 50 times a second, with the kernel's own maximum of one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WIDTH = 8192
_LOAD = "from envcheck.conversion.models import load_keras; load_keras({keras!r})"
_COMPARE = """
import envcheck
report = envcheck.parity({keras!r}, {onnx!r})
print("verdict", report.parity["verdict"], report.parity["coverage"])
"""
_WRITE = "from benchmarks.parity.large import write; write({folder!r}, {size}, {external})"


def write(folder: str, megabytes: int, external: bool) -> None:
    """Write `model.keras` and `model.onnx` with so many megabytes of random float32 weights."""
    import keras
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    count = max(1, round(megabytes * 1e6 / (4 * WIDTH * WIDTH)))
    hidden = [keras.layers.Dense(WIDTH, activation="relu") for _ in range(count)]
    model = keras.Sequential([keras.Input((WIDTH,)), *hidden])
    generator = np.random.default_rng(0)
    nodes, weights, last = [], [], "x"
    for place, layer in enumerate(hidden):
        kernel = generator.standard_normal((WIDTH, WIDTH), dtype="float32") / np.sqrt(WIDTH / 2)
        bias = generator.standard_normal(WIDTH, dtype="float32") / 10
        layer.set_weights([kernel.astype("float32"), bias])
        weights += [numpy_helper.from_array(value, f"{name}{place}")
                    for name, value in (("w", kernel.astype("float32")), ("b", bias))]  # fmt: skip
        made = "y" if place == count - 1 else f"out{place}"
        nodes += [
            helper.make_node("MatMul", [last, f"w{place}"], [f"product{place}"]),
            helper.make_node("Add", [f"product{place}", f"b{place}"], [f"sum{place}"]),
            helper.make_node("Relu", [f"sum{place}"], [made]),
        ]
        last = made
    model.save(Path(folder, "model.keras"))
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None, WIDTH]) for n in "xy"]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    path = str(Path(folder, "model.onnx"))
    onnx.save(proto, path, save_as_external_data=external, location="model.bin")


def measured(code: str) -> tuple[float, float, float]:
    """Run code in a process of its own; return peak bytes of all, of one process, and seconds."""
    import psutil

    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    started = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", code], env=environ)
    watched, together = psutil.Process(child.pid), 0
    while True:
        together = max(together, _resident(watched))
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"the run ended with {child.returncode}")
    return together, usage.ru_maxrss * 1024, time.monotonic() - started


def _resident(process: Any) -> int:
    import psutil

    total = 0
    try:
        for one in (process, *process.children(recursive=True)):
            total += one.memory_info().rss
    except psutil.Error:  # ended meanwhile
        return total
    return total


def main(arguments: list[str]) -> None:
    """Write the model, load it, compare it, and print what each took."""
    size = int(arguments[0]) if arguments else 1500
    external = "single" not in arguments
    with tempfile.TemporaryDirectory() as folder:
        paths = {"keras": str(Path(folder, "model.keras")), "onnx": str(Path(folder, "model.onnx"))}
        measured(_WRITE.format(folder=folder, size=size, external=external))
        base = 0.0
        for name, code in (("load", _LOAD), ("compare", _COMPARE)):
            together, alone, seconds = measured(code.format(**paths))
            base = base or together
            print(
                f"{name:<8} {seconds:.1f} s, peak {together / 1e9:.2f} GB together,"
                f" {alone / 1e9:.2f} GB in the first process,"
                f" {(together - base) / 1e9:+.2f} GB over loading"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
