"""Compare two trace files: the two sides ran on two machines, on the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.assembling import report_of
from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.faults import faults_of
from envcheck.conversion.graphs import Tensor
from envcheck.conversion.inputs import Samples
from envcheck.conversion.investigation import Investigation, Options, compare_recorded
from envcheck.conversion.runtimes.protocol import Failure, Feed, Partial, Whole
from envcheck.conversion.stores import Store
from envcheck.conversion.traces import Trace, read_trace
from envcheck.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.findings import Report

__all__ = ["compare_traces"]


def compare_traces(reference: str, candidate: str, options: Options) -> Report:
    """Return the report of two traces. The first must be of a Keras model.

    Raises InputError and SchemaError, and UsageError for traces of different inputs.
    """
    first, second = read_trace(reference), read_trace(candidate)
    stores = [Store(options.budget), Store(options.budget)]
    try:
        recording = Recording(store=stores[0])
        places = _record(first, recording)
        seen = _Recorded(second)
        seen.run_all({}, stores[1])
        _check_inputs(recording, places, seen, stores[1], (reference, candidate))
        found = Investigation(samples=_samples(recording, places))
        compare_recorded(found, recording, seen, stores[1], options)
        report = report_of(
            found, reference=reference, candidate=candidate, identity=seen.identity(),
            faults=faults_of(found),
        )  # fmt: skip
        return _with_environments(report, first, second)
    finally:
        for store in stores:
            store.close()


def _record(trace: Trace, recording: Recording) -> list[int]:
    """Fill a recording from a trace, and return which inputs of the model it holds."""
    calls: dict[int, dict[str, Any]] = {}
    names: dict[int, str] = {}
    outputs = []
    for entry in trace.entries:
        if entry["key"] is None or "call" not in entry:
            continue
        port = Port(entry["call"], entry["index"])
        recording.store.put(port.key, trace.array(entry["key"]))
        if port.call == INPUT:
            names[port.index] = entry["name"]
            continue
        calls.setdefault(port.call, {"entry": entry, "ports": []})["ports"].append(port)
        if entry.get("output") is not None:
            outputs.append((entry["output"], port))
    _check_calls(trace, list(calls), outputs)
    for number, data in sorted(calls.items()):
        recording.calls.append(_call(number, data["entry"], tuple(data["ports"])))
    recording.input_names = tuple(name for _, name in sorted(names.items()))
    recording.outputs = tuple(port for _, port in sorted(outputs))
    recording.output_names = tuple(recording.calls[p.call].path for p in recording.outputs)
    recording.layers = {call.id: None for call in recording.calls}
    return sorted(names)


def _check_calls(trace: Trace, calls: list[int], outputs: list[tuple[int, Port]]) -> None:
    if not calls:
        raise InputError(
            "holds no layers of a Keras model", place=trace.path,
            hint="the reference comes first: envcheck parity keras.trace onnx.trace",
        )  # fmt: skip
    if sorted(calls) != list(range(len(calls))):
        raise InputError("its calls are not numbered in order", place=trace.path)
    if not outputs:
        raise InputError("marks no output of the model", place=trace.path)


def _call(number: int, entry: Mapping[str, Any], ports: tuple[Port, ...]) -> Call:
    return Call(
        id=number,
        path=str(entry.get("layer", entry["name"])),
        layer_class=str(entry["op"]),
        index=int(entry.get("number", 0)),
        inputs=tuple(Port(int(a), int(b)) for a, b in entry.get("reads", [])),
        outputs=ports,
        within=None,
        weighted=bool(entry.get("weighted")),
    )


def _samples(recording: Recording, places: Sequence[int]) -> Samples:
    values = tuple(recording.store.get(f"{INPUT}:{place}") for place in places)
    return Samples(names=recording.input_names, values=values, form="dict", origin="given")


def _check_inputs(
    recording: Recording,
    places: Sequence[int],
    seen: _Recorded,
    store: Store,
    paths: tuple[str, str],
) -> None:
    """Raise for traces of different inputs: each input of the one must be among the other's."""
    import numpy as np

    others = [np.sort(store.get(feed.name), axis=None) for feed in seen.inputs]
    for place, name in zip(places, recording.input_names, strict=True):
        value = np.sort(recording.store.get(f"{INPUT}:{place}"), axis=None)
        if not any(o.size == value.size and np.allclose(o, value, rtol=1e-6) for o in others):
            raise UsageError(
                f"input {name} of {paths[0]} is not among the inputs of {paths[1]}",
                hint="trace both models with the same --inputs file",
            )


def _with_environments(report: Report, first: Trace, second: Trace) -> Report:
    """Return the report with the environments of both machines and what differs in them."""
    from envcheck.records import replace

    sides = (first.index.get("environment", {}), second.index.get("environment", {}))
    inputs = {
        side: {**report.inputs[side], "runtime": trace.index.get("runtime", {}),
               "environment": facts, "python": facts.get("python.version"),
               "system": facts.get("os.system"), "architecture": facts.get("cpu.architecture")}
        for side, trace, facts in zip(("train", "deploy"), (first, second), sides, strict=True)
    }  # fmt: skip
    keys = sorted(set(sides[0]) & set(sides[1]))
    differing = [
        f"{key} is {_short(sides[0][key])} there and {_short(sides[1][key])} here"
        for key in keys
        if sides[0][key] != sides[1][key]
    ]
    return replace(report, inputs=inputs, notes=(*report.notes, *differing))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 80 else f"{text[:77]}..."


class _Recorded(Whole):
    """A trace as a candidate: values can be read, nothing can be run."""

    runs = False

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.name = str(trace.index.get("runtime", {}).get("runtime", "trace"))
        self._entries = [entry for entry in trace.entries if entry.get("key") is not None]
        self.inputs = tuple(self._feed(e) for e in self._entries if e.get("kind") == "input")
        finals = [e for e in self._entries if e.get("output") is not None]
        finals.sort(key=lambda entry: (int(entry["output"]), int(entry["order"])))
        self.outputs = tuple(self._feed(entry) for entry in finals)

    def _feed(self, entry: Mapping[str, Any]) -> Feed:
        return Feed(name=self._name(entry), dtype=str(entry["dtype"]), shape=tuple(entry["shape"]))

    def _name(self, entry: Mapping[str, Any]) -> str:
        index = entry.get("index", 0)
        return f"{entry['name']}:{index}" if "call" in entry else str(entry["name"])

    def tensors(self) -> list[Tensor]:
        """Return every array of the trace."""
        return [
            Tensor(name=self._name(e), op=str(e["op"]), order=int(e["order"]),
                   node_name=str(e.get("node") or e.get("layer") or ""))
            for e in self._entries
        ]  # fmt: skip

    def run_all(self, feeds: Mapping[str, Array], store: Store) -> Partial:  # noqa: ARG002
        """Put every array into the store."""
        for entry in self._entries:
            store.put(self._name(entry), self._trace.array(str(entry["key"])))
        return Partial()

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:  # noqa: ARG002 - as in the protocol
        """Raise Failure: `runs` is False."""
        raise Failure("run", "a trace holds values, and cannot be run")

    def identity(self) -> dict[str, Any]:
        """Return the runtime that the trace was made with."""
        return dict(self._trace.index.get("runtime", {}))
