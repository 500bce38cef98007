"""`envcheck.trace()`: write all layer outputs of one model under one runtime."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from envcheck import __version__
from envcheck.conversion.calls import INPUT
from envcheck.conversion.children import Limits
from envcheck.conversion.inputs import Samples, Spec, given, read_inputs, specs_of
from envcheck.conversion.models import has_custom_classes
from envcheck.conversion.stores import DEFAULT_BUDGET, Store
from envcheck.conversion.traces import TraceWriter
from envcheck.errors import NothingChecked, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envcheck.conversion.calls import Recording
    from envcheck.conversion.runtimes.protocol import Candidate

__all__ = ["identity_facts", "trace", "trace_file"]

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
    progress: Callable[[str], None] | None = None,
    time_limit: float = 1800.0,
    memory_limit: int = 0,
    isolated: bool = True,
) -> int:
    """Write a trace of a model on given inputs, and return how many arrays it holds.

    `model` is a Keras model, or the path of a `.keras`, `.h5`, `.onnx` or `.tflite` file. Files
    are loaded and run in a process of its own, within a time (seconds) and a memory limit (bytes;
    0: most of what is free), so that a crash of native code does not end this one; a live model
    runs here, as do files with `isolated=False`.

    Raises InputError, UsageError, OutputError, MissingExtra, and NothingChecked for a model that
    does not run.
    """
    if inputs is None:
        raise UsageError("a trace needs inputs, so that both sides run the same ones")
    target, tell = os.fspath(output), progress or (lambda _: None)
    if not isinstance(model, str | os.PathLike):
        place = str(getattr(model, "name", "model"))
        return _trace_keras(model, place, inputs, target, budget, identity_facts())
    request: dict[str, Any] = {
        "model": os.fspath(model), "output": target, "imports": list(imports),
        "allow_code": allow_code, "runtime": runtime, "level": level, "budget": budget,
        "facts": identity_facts(),
    }  # fmt: skip
    if not isolated or has_custom_classes():
        return trace_file(inputs=inputs, progress=tell, **request)
    from envcheck.conversion.isolation import trace_isolated

    limits = Limits(seconds=time_limit, memory_bytes=memory_limit)
    return trace_isolated(request, inputs, limits, tell)


def trace_file(  # noqa: PLR0913 - all keyword-only
    *,
    model: str,
    output: str,
    inputs: Any,
    imports: Sequence[str],
    allow_code: bool,
    runtime: str,
    level: str,
    budget: int,
    facts: dict[str, Any],
    progress: Callable[[str], None],
) -> int:
    """Trace a file in this process; `facts` are those of this machine."""
    from envcheck.conversion.models import describe_file, import_modules, load_keras

    progress("loading the model")
    if describe_file(model).get("format") not in _KERAS:
        candidate = _opened(model, runtime, level)
        progress("running the model")
        return _trace_candidate(candidate, model, inputs, output, facts)
    import_modules(imports)
    loaded = load_keras(model, allow_code=allow_code)
    progress("running the model")
    return _trace_keras(loaded, model, inputs, output, budget, facts)


def _values(inputs: Any, specs: tuple[Spec, ...], form: str) -> Samples:
    if isinstance(inputs, str | os.PathLike):
        place = os.fspath(inputs)
        return given(read_inputs(place), specs, form, place)
    return given(inputs, specs, form)


def _header(
    model: str, samples: Samples, runtime: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tool": f"envcheck {__version__}",
        "model": os.path.basename(model),
        "inputs_sha256": samples.sha256,
        "runtime": runtime,
        "environment": facts,
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


def _trace_keras(
    model: Any, place: str, inputs: Any, target: str, budget: int, facts: dict[str, Any]
) -> int:
    from envcheck.conversion.models import import_keras
    from envcheck.conversion.recording import record

    keras = import_keras()
    specs, form = specs_of(model)
    samples = _values(inputs, specs, form)
    store = Store(budget)
    try:
        recording = record(model, samples.packed(), store, names=samples.names)
        runtime = {"runtime": "keras", "version": keras.__version__}
        writer = TraceWriter(target, _header(place, samples, runtime, facts))
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


def _opened(path: str, runtime: str, level: str) -> Candidate:
    from envcheck.conversion.runtimes.discovery import open_file
    from envcheck.conversion.runtimes.protocol import Failure, Settings

    try:
        return open_file(path, Settings(level=level), runtime)
    except Failure as failure:
        raise NothingChecked(f"cannot be loaded: {failure.message[:300]}", place=path) from failure


def _trace_candidate(
    candidate: Candidate, path: str, inputs: Any, target: str, facts: dict[str, Any]
) -> int:
    from envcheck.conversion.gate import pair_inputs

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
        writer = TraceWriter(target, _header(path, samples, candidate.identity(), facts))
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
