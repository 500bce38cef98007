"""Write the smallest part that fails by itself: layer, segment, inputs, and a script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.explaining import segment_of
from envcheck.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.faults import Fault
    from envcheck.conversion.investigation import Investigation

__all__ = ["write_reproduction"]

_SCRIPT = '''\
"""{title}

Runs the part of the ONNX file that stands for it on the inputs that the reference had there, and
compares with what the reference made of them. Exits with 1 while they differ.

    python -m pip install numpy onnxruntime
    python reproduce.py
"""

import os
import sys

import numpy as np
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = {tolerance!r}  # relative L2

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(
    os.path.join(HERE, "segment.onnx"), options, providers=["CPUExecutionProvider"]
)
inputs = np.load(os.path.join(HERE, "inputs.npz"))
names = [item.name for item in session.get_inputs()]
feeds = {{name: inputs[f"in_{{place}}"] for place, name in enumerate(names)}}
seen = session.run([{tensor!r}], feeds)[0].astype(np.float64)
wanted = np.load(os.path.join(HERE, "reference.npy")).astype(np.float64)
error = np.linalg.norm(seen - wanted) / max(np.linalg.norm(wanted), 1e-30)
print(f"relative error {{error:.3g}}, tolerance {{TOLERANCE:.3g}}")
sys.exit(1 if error > TOLERANCE else 0)
'''


def write_reproduction(found: Investigation, faults: Sequence[Fault], folder: str) -> list[str]:
    """Write a reproduction of the first fault into `folder`, and return notes about it.

    Raises OutputError.
    """
    fault = next((f for f in faults if f.culprit is not None and f.culprit.place is not None), None)
    if fault is None or found.comparison is None:
        return ["no reproduction was written: no fault was tied to a part of the graph"]
    try:
        os.makedirs(folder, exist_ok=True)
        error = _write(found, fault, folder)
        _write_layer(found, fault, folder)
    except OSError as problem:
        raise OutputError(f"cannot be written: {problem}", place=folder) from problem
    if error is None:
        return [f"the reproduction in {folder} holds the values; its segment could not be cut out"]
    alone = "fails alone" if error > _tolerance(found, fault) else "does not fail alone"
    return [f"the reproduction in {folder} {alone} (relative error {error:.3g})"]


def _tolerance(found: Investigation, fault: Fault) -> float:
    assert fault.culprit is not None
    assert found.comparison is not None
    return found.comparison.tolerance(fault.culprit.port)


def _write(found: Investigation, fault: Fault, folder: str) -> float | None:
    import numpy as np

    comparison, culprit = found.comparison, fault.culprit
    assert comparison is not None
    assert culprit is not None
    graph, place = comparison.candidate.graph, culprit.place
    assert place is not None
    if graph is None or not comparison.candidate.parts:
        return None
    segment = segment_of(comparison, culprit)
    feeds = _inputs(found, graph.boundary(segment) or [culprit.tensor])
    model, values = graph.part(segment, [culprit.tensor], feeds)
    wanted = comparison.recording.value(culprit.port)
    reference = place.layout.apply(wanted, comparison.value(culprit.tensor).shape)
    with open(os.path.join(folder, "segment.onnx"), "wb") as file:
        file.write(_complete(model, comparison, culprit.tensor))
    _hand_on(getattr(comparison.candidate, "path", ""), os.path.join(folder, "segment.onnx"))
    np.savez(
        os.path.join(folder, "inputs.npz"),
        **{f"in_{number}": value for number, value in enumerate(values.values())},
    )
    np.save(os.path.join(folder, "reference.npy"), reference)
    title = f"{' and '.join(fault.classes)} {' and '.join(fault.layers)}: {fault.causes[0].text}"
    script = _SCRIPT.format(
        title=title.replace("\\", "/").replace('"""', "'"),
        tolerance=_tolerance(found, fault), tensor=culprit.tensor,
    )  # fmt: skip
    with open(os.path.join(folder, "reproduce.py"), "w", encoding="utf-8") as file:
        file.write(script)
    if not segment:
        return relative_error(feeds[culprit.tensor], reference)
    seen = comparison.candidate.run_part(segment, [culprit.tensor], feeds)[culprit.tensor]
    return relative_error(seen, reference)


def _hand_on(source: str, target: str) -> None:
    """Give a segment the fingerprint that the candidate carries, if it carries a sound one."""
    from envcheck.embedding.carriers import hand_on
    from envcheck.errors import EnvcheckError

    try:
        if source:
            hand_on(source, target)
    except EnvcheckError:
        return


def _inputs(found: Investigation, names: Sequence[str]) -> dict[str, Array]:
    """Return the reference's values at the boundary of a segment, in the candidate's layout."""
    comparison = found.comparison
    assert comparison is not None
    owners = {match.tensor: (port, match) for port, match in comparison.matches.items()}
    values = {}
    for name in names:
        seen = comparison.value(name)
        values[name] = seen
        if name in owners:
            port, match = owners[name]
            wanted = match.layout.apply(comparison.recording.value(port), seen.shape)
            values[name] = wanted.astype(seen.dtype)
    return values


def _complete(model: bytes, comparison: Any, tensor: str) -> bytes:
    """Return a model whose output has a type; for an absent layer, one that hands its input on."""
    import onnx

    proto = onnx.load_from_string(model)
    if not proto.graph.node:
        fresh = f"{tensor}_handed_on"
        proto.graph.node.append(onnx.helper.make_node("Identity", [fresh], [tensor]))
        for item in proto.graph.input:
            if item.name == tensor:
                item.name = fresh
    value = comparison.value(tensor)
    kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    del proto.graph.output[:]
    proto.graph.output.append(onnx.helper.make_tensor_value_info(tensor, kind, list(value.shape)))
    complete: bytes = proto.SerializeToString()
    return complete


def _write_layer(found: Investigation, fault: Fault, folder: str) -> None:
    """Write the layer's configuration, for the maintainers of a converter."""
    import json

    assert found.recording is not None
    data = []
    for call in fault.calls:
        layer = found.recording.layers[call]
        try:
            config = layer.get_config()
        except Exception:  # noqa: BLE001 - layers of any origin
            config = {}
        data.append({"class": type(layer).__name__, "config": config})
    with open(os.path.join(folder, "layer.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2, default=str)
