"""Record every layer call of a Keras model during one run as `predict` would make it.

The classes' own `__call__` are wrapped for the time of one call of the model, on this thread,
and restored afterwards; neither the model nor its weights are touched.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import plain
from envcheck.conversion.calls import INPUT, Call, Port, Recording

if TYPE_CHECKING:
    from envcheck.conversion.stores import Store

__all__ = ["call_model", "record"]

_CLOSED = ("RNN", "TimeDistributed")
"""Layers that loop over time: they are one call, whatever they call inside."""


def record(
    model: Any,
    inputs: Any,
    store: Store,
    *,
    names: tuple[str, ...] = (),
    change: Callable[[Any], Any] | None = None,
) -> Recording:
    """Run `model` once on `inputs` (as the model takes them) and return its calls.

    `names` are the names of the flattened inputs. Values go to `store` under `Port.key`. `change`
    replaces every tensor that a layer returns, before anything reads it.
    """
    import keras

    recorder = _Recorder(store, change)
    flat = keras.tree.flatten(inputs)
    tensors = [keras.ops.convert_to_tensor(value) for value in flat]
    packed = keras.tree.pack_sequence_as(inputs, tensors)
    for index, tensor in enumerate(tensors):
        recorder.own(tensor, Port(INPUT, index))
    recorder.inputs = tuple(Port(INPUT, index) for index in range(len(tensors)))
    with _wrapped(recorder):
        result = call_model(model, packed)
    outputs = keras.tree.flatten(result)
    recorder.recording.input_names = names
    recorder.recording.outputs = tuple(recorder.port_of_result(value) for value in outputs)
    recorder.recording.output_names = _output_names(model, len(outputs))
    return recorder.recording


def call_model(model: Any, inputs: Any) -> Any:
    """Call a model in inference mode, as `predict` does."""
    return model(inputs, training=False)


def _output_names(model: Any, count: int) -> tuple[str, ...]:
    names = getattr(model, "output_names", None) or []
    return tuple(
        str(names[index]) if index < len(names) else f"output_{index}" for index in range(count)
    )


@dataclass
class _Frame:
    """A call that has begun and not ended."""

    number: int
    path: str
    layer: Any
    index: int
    inputs: tuple[Port, ...]
    closed: bool
    children: list[int] = field(default_factory=list)
    used: set[int] = field(default_factory=set)


class _Recorder:
    """Turns nested calls into a recording."""

    def __init__(self, store: Store, change: Callable[[Any], Any] | None = None) -> None:
        self.recording = Recording(store=store)
        self._change = change
        self.thread = threading.get_ident()
        self.inputs: tuple[Port, ...] = ()
        self._frames: list[_Frame] = []
        self._owners: dict[int, tuple[Any, Port]] = {}
        self._counts: dict[str, int] = {}
        self._numbers = 0

    def own(self, tensor: Any, port: Port) -> None:
        """Note which port a tensor is, for as long as the tensor lives, and keep its value."""
        identity = id(tensor)
        owners = self._owners

        def forget(_: object) -> None:
            owners.pop(identity, None)

        try:
            owners[identity] = (weakref.ref(tensor, forget), port)
        except TypeError:
            owners[identity] = (lambda held=tensor: held, port)
        self.recording.store.put(port.key, plain(tensor))

    def owner(self, tensor: Any) -> Port | None:
        """Return the port that a tensor is, or None for one that no call made."""
        found = self._owners.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    @property
    def silent(self) -> bool:
        """Whether calls are not to be recorded now."""
        if threading.get_ident() != self.thread:
            return True
        return bool(self._frames) and self._frames[-1].closed

    def begin(self, layer: Any, arguments: Any) -> None:
        """Open a frame for a call."""
        outer = self._frames[-1] if self._frames else None
        name = str(getattr(layer, "name", type(layer).__name__))
        path = f"{outer.path}/{name}" if outer and outer.path else name
        path = "" if outer is None else path
        index = self._counts.get(path, 0)
        self._counts[path] = index + 1
        self._numbers += 1
        frame = _Frame(
            number=self._numbers,
            path=path,
            layer=layer,
            index=index,
            inputs=self._sources(arguments, outer),
            closed=_is_closed(layer),
        )
        if outer is not None:
            outer.used.update(port.call for port in frame.inputs)
        self._frames.append(frame)

    def abandon(self) -> None:
        """Close the newest frame without a result."""
        self._frames.pop()

    def end(self, result: Any) -> Any:
        """Close the newest frame: it was a call of its own, or a container of others.

        Returns the result, changed where changes were asked for.
        """
        frame = self._frames.pop()
        result = self._changed(frame, result)
        outer = self._frames[-1] if self._frames else None
        tensors = _tensors(result)
        owned = [self.owner(tensor) for tensor in tensors]
        within = outer.number if outer is not None and outer.path else None
        if frame.children and all(port is not None for port in owned):
            self.recording.containers[frame.number] = tuple(p for p in owned if p is not None)
        elif tensors and all(_is_concrete(tensor) for tensor in tensors):
            self._add(frame, tensors, within)
        self.recording.container_of[frame.number] = (
            frame.path,
            type(frame.layer).__name__,
            within,
        )
        if outer is not None:
            outer.children += frame.children
            outer.used |= frame.used
        return result

    def _changed(self, frame: _Frame, result: Any) -> Any:
        """Return a result with each tensor replaced that the call made itself."""
        tensors = _tensors(result)
        if self._change is None or frame.children or not all(map(_is_concrete, tensors)):
            return result
        import keras

        change = self._change
        return keras.tree.map_structure(
            lambda value: change(value) if _tensors(value) and self.owner(value) is None else value,
            result,
        )

    def _add(self, frame: _Frame, tensors: list[Any], within: int | None) -> None:
        number = len(self.recording.calls)
        ports = []
        for index, tensor in enumerate(tensors):
            port = self.owner(tensor)
            if port is None:
                port = Port(number, index)
                self.own(tensor, port)
            ports.append(port)
        inputs = frame.inputs
        if frame.children:
            loose = [call for call in frame.children if call not in frame.used]
            inner = tuple(Port(call) for call in loose)
            inputs = tuple(dict.fromkeys((*inner, *frame.inputs)))
            frame.used.update(loose)
        self.recording.containers[frame.number] = tuple(ports)
        self.recording.calls.append(
            Call(
                id=number,
                path=frame.path or type(frame.layer).__name__,
                layer_class=type(frame.layer).__name__,
                index=frame.index,
                inputs=inputs,
                outputs=tuple(ports),
                within=within,
                weighted=bool(getattr(frame.layer, "weights", ())) and not frame.children,
                passes=all(port.call != number for port in ports),
            )
        )
        self.recording.layers[number] = frame.layer
        if not self.recording.calls[-1].passes:
            frame.children.append(number)

    def _sources(self, arguments: Any, outer: _Frame | None) -> tuple[Port, ...]:
        """Return the ports that a call reads.

        A tensor that no recorded call made comes from plain code of the container: from its
        calls that nothing has read yet or, failing that, from its last call or its own inputs.
        """
        found: dict[Port, None] = {}
        for tensor in _tensors(arguments):
            port = self.owner(tensor)
            if port is not None:
                found[port] = None
            elif outer is not None and _is_concrete(tensor):
                found.update(dict.fromkeys(self._loose(outer)))
        return tuple(found)

    def _loose(self, outer: _Frame) -> list[Port]:
        loose = [call for call in outer.children if call not in outer.used]
        if not loose and outer.children:
            loose = outer.children[-1:]
        return [Port(call) for call in loose] or list(outer.inputs)

    def port_of_result(self, value: Any) -> Port:
        """Return the port of an output of the model, which always has one."""
        port = self.owner(value)
        if port is None:
            port = Port(len(self.recording.calls))
            self.own(value, port)
            self.recording.calls.append(
                Call(id=port.call, path="(whole model)", layer_class="Function", index=0,
                     inputs=self.inputs, outputs=(port,), within=None)
            )  # fmt: skip
            self.recording.layers[port.call] = None
        return port


def _is_closed(layer: Any) -> bool:
    return any(kind.__name__ in _CLOSED for kind in type(layer).__mro__)


def _tensors(values: Any) -> list[Any]:
    """Return the tensors in nested lists, tuples and dicts."""
    if isinstance(values, dict):
        return [tensor for value in values.values() for tensor in _tensors(value)]
    if isinstance(values, list | tuple):
        return [tensor for value in values for tensor in _tensors(value)]
    return [values] if hasattr(values, "shape") and hasattr(values, "dtype") else []


def _is_concrete(tensor: Any) -> bool:
    """Return whether a tensor has values: not one of a graph that is being traced."""
    return hasattr(tensor, "numpy") or type(tensor).__module__.startswith("numpy")


@contextmanager
def _wrapped(recorder: _Recorder) -> Iterator[None]:
    """Wrap `Layer.__call__` and `Operation.__call__` while the block runs."""
    import keras

    layer_class, operation_class = keras.layers.Layer, keras.Operation
    originals = [(kind, kind.__dict__["__call__"]) for kind in (layer_class, operation_class)]

    def watch(original: Any, *, layers: bool) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if recorder.silent or isinstance(self, layer_class) != layers:
                return original(self, *args, **kwargs)
            recorder.begin(self, (args, kwargs))
            try:
                result = original(self, *args, **kwargs)
            except BaseException:
                recorder.abandon()
                raise
            return recorder.end(result)

        return call

    try:
        for kind, original in originals:
            patched: Any = kind
            patched.__call__ = watch(original, layers=kind is layer_class)
        yield
    finally:
        for kind, original in originals:
            patched = kind
            patched.__call__ = original
