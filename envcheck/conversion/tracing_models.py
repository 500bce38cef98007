"""`envcheck.trace()`: write all layer outputs of one model under one runtime."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from envcheck import __version__
from envcheck.conversion.calls import INPUT
from envcheck.conversion.inputs import Samples, Spec, given, read_inputs, specs_of
from envcheck.conversion.stores import DEFAULT_BUDGET, Store
from envcheck.conversion.traces import TraceWriter
from envcheck.errors import NothingChecked, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.calls import Recording
    from envcheck.conversion.runtimes.protocol import Candidate

__all__ = ["identity_facts", "trace"]

_FACTS = ("os.system", "cpu.architecture", "cpu.features", "cpu.model", "python.version")
_PACKAGES = ("tensorflow", "keras", "numpy", "onnxruntime", "onnx", "ai-edge-litert")
_KERAS = ("keras", "hdf5")


def trace(  # noqa: PLR0913 - keyword-only settings, each with a default
    model: Any,
    inputs: Any,
    output: str | os.PathLike[str],
    *,
    imports: Sequence[str] = (),
    allow_code: bool = False,
    runtime: str = "",
    level: str = "none",
    budget: int = DEFAULT_BUDGET,
) -> int:
    """Write a trace of a model on given inputs, and return how many arrays it holds.

    `model` is a Keras model, or the path of a `.keras`, `.h5`, `.onnx` or `.tflite` file.

    Raises InputError, UsageError, OutputError and MissingExtra.
    """
    if inputs is None:
        raise UsageError("a trace needs inputs, so that both sides run the same ones")
    target = os.fspath(output)
    if isinstance(model, str | os.PathLike):
        from envcheck.conversion.models import describe_file, import_modules, load_keras

        path = os.fspath(model)
        if describe_file(path).get("format") not in _KERAS:
            return _trace_candidate(path, inputs, target, runtime, level)
        import_modules(imports)
        return _trace_keras(load_keras(path, allow_code=allow_code), path, inputs, target, budget)
    return _trace_keras(model, str(getattr(model, "name", "model")), inputs, target, budget)


def _values(inputs: Any, specs: tuple[Spec, ...], form: str) -> Samples:
    if isinstance(inputs, str | os.PathLike):
        place = os.fspath(inputs)
        return given(read_inputs(place), specs, form, place)
    return given(inputs, specs, form)


def _header(model: str, samples: Samples, runtime: dict[str, Any]) -> dict[str, Any]:
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tool": f"envcheck {__version__}",
        "model": os.path.basename(model),
        "inputs_sha256": samples.sha256,
        "runtime": runtime,
        "environment": identity_facts(),
    }


def identity_facts() -> dict[str, Any]:
    """Return the few facts of this machine that layer outputs depend on."""
    from envcheck.capturing import capture

    facts = capture().facts
    found = {key: facts[key].value for key in _FACTS if key in facts and facts[key].is_ok}
    for name in _PACKAGES:
        fact = facts.get(f"package.{name}")
        if fact is not None and fact.is_ok:
            found[f"package.{name}"] = fact.value.get("version")
    return found


def _trace_keras(model: Any, place: str, inputs: Any, target: str, budget: int) -> int:
    from envcheck.conversion.models import import_keras
    from envcheck.conversion.recording import record

    keras = import_keras()
    specs, form = specs_of(model)
    samples = _values(inputs, specs, form)
    store = Store(budget)
    try:
        recording = record(model, samples.packed(), store, names=samples.names)
        runtime = {"runtime": "keras", "version": keras.__version__}
        writer = TraceWriter(target, _header(place, samples, runtime))
        try:
            count = _write_calls(writer, recording)
        except BaseException:
            writer.abandon()
            raise
        writer.close()
        return count
    finally:
        store.close()


def _write_calls(writer: TraceWriter, recording: Recording) -> int:
    outputs = {port: place for place, port in enumerate(recording.outputs)}
    for place, name in enumerate(recording.input_names):
        key = f"{INPUT}:{place}"
        writer.add(recording.store.get(key), kind="input", name=name, op="input", call=INPUT,
                   index=place)  # fmt: skip
    count = len(recording.input_names)
    for call in recording.calls:
        for port in call.outputs:
            if port.call != call.id:
                continue
            writer.add(
                recording.value(port), kind="call", name=call.label, op=call.layer_class,
                layer=call.path, call=call.id, index=port.index, number=call.index,
                reads=[[p.call, p.index] for p in call.inputs], output=outputs.get(port),
                weighted=call.weighted,
            )  # fmt: skip
            count += 1
    return count


def _trace_candidate(path: str, inputs: Any, target: str, runtime: str, level: str) -> int:
    from envcheck.conversion.gate import pair_inputs
    from envcheck.conversion.runtimes.discovery import open_file
    from envcheck.conversion.runtimes.protocol import Failure, Settings

    try:
        candidate = open_file(path, Settings(level=level), runtime)
    except Failure as failure:
        raise NothingChecked(f"cannot be loaded: {failure.message[:300]}", place=path) from failure
    samples = _values(inputs, (), "dict")
    if len(samples.names) == 1 and len(candidate.inputs) == 1:
        samples = Samples(names=(candidate.inputs[0].name,), values=samples.values, form="dict",
                          origin="given")  # fmt: skip
    pairing = pair_inputs(candidate, samples)
    if pairing.problems:
        raise UsageError("; ".join(pairing.problems), place=path)
    store = Store()
    try:
        partial = candidate.run_all(pairing.feeds, store)
        if partial.failure is not None:
            raise NothingChecked(f"fails: {partial.failure.message[:300]}", place=path)
        writer = TraceWriter(target, _header(path, samples, candidate.identity()))
        count = _write_tensors(writer, candidate, store)
        writer.close()
        return count
    finally:
        store.close()


def _write_tensors(writer: TraceWriter, candidate: Candidate, store: Store) -> int:
    outputs = {feed.name: place for place, feed in enumerate(candidate.outputs)}
    count = 0
    for tensor in candidate.tensors():
        if tensor.name in store and tensor.op != "initialiser":
            writer.add(
                store.get(tensor.name), kind="input" if tensor.op == "input" else "tensor",
                name=tensor.name, op=tensor.op, node=tensor.node_name,
                output=outputs.get(tensor.name),
            )  # fmt: skip
            count += 1
    return count
