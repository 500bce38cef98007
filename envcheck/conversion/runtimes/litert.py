"""LiteRT (TensorFlow Lite): every tensor can be read; nothing can be injected."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from envcheck.conversion.graphs import Tensor
from envcheck.conversion.runtimes.protocol import Failure, Feed, Partial, Whole
from envcheck.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.runtimes.protocol import Settings
    from envcheck.conversion.stores import Store

__all__ = ["NAME", "SUFFIXES", "open_candidate"]

NAME = "litert"
SUFFIXES = (".tflite",)


def open_candidate(path: str, settings: Settings) -> _Candidate:
    """Load a `.tflite` file."""
    return _Candidate(path, settings)


def _interpreter_class() -> Any:
    try:
        module = importlib.import_module("ai_edge_litert.interpreter")
    except ImportError as problem:
        raise MissingExtra("ai-edge-litert", "litert", "running a .tflite file") from problem
    return module.Interpreter, module.OpResolverType


class _Candidate(Whole):
    """One interpreter that keeps every tensor, with reference kernels and no delegate."""

    name = NAME

    def __init__(self, path: str, settings: Settings) -> None:
        if not os.path.isfile(path):
            raise InputError("does not exist", place=path)
        interpreter, resolvers = _interpreter_class()
        try:
            self._interpreter = interpreter(
                model_path=path,
                num_threads=settings.threads or None,
                experimental_preserve_all_tensors=True,
                experimental_op_resolver_type=resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            )
            self._details = {d["index"]: d for d in self._interpreter.get_input_details()}
        except (ValueError, RuntimeError, OSError) as problem:
            if "valid Flatbuffer" in str(problem):
                hint = "the file is truncated, or is something else"
                raise InputError("cannot be read as LiteRT", place=path, hint=hint) from problem
            raise Failure("load", str(problem)) from problem
        self.inputs = tuple(_feed(d) for d in self._interpreter.get_input_details())
        self.outputs = tuple(_feed(d) for d in self._interpreter.get_output_details())

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs in order; quantised ones as the numbers that they stand for."""
        self._invoke(feeds)
        return [
            _real(detail, self._interpreter.get_tensor(detail["index"]))
            for detail in self._interpreter.get_output_details()
        ]

    def _invoke(self, feeds: Mapping[str, Array]) -> None:
        inner = self._interpreter
        try:
            for detail in inner.get_input_details():
                inner.resize_tensor_input(detail["index"], feeds[detail["name"]].shape)
            inner.allocate_tensors()
            for detail in inner.get_input_details():
                inner.set_tensor(detail["index"], _coded(detail, feeds[detail["name"]]))
            inner.invoke()
        except (ValueError, RuntimeError) as problem:
            stage = "load" if "Flex" in str(problem) or "custom op" in str(problem) else "run"
            raise Failure(stage, str(problem)) from problem

    def run_all(self, feeds: Mapping[str, Array], store: Store) -> Partial:
        """Put the value of every tensor into the store."""
        try:
            self._invoke(feeds)
        except Failure as failure:
            return Partial(failure=failure)
        missing = []
        for detail in self._interpreter.get_tensor_details():
            try:
                value = self._interpreter.get_tensor(detail["index"])
            except ValueError:
                missing.append(detail["name"])
                continue
            name = self._name(detail)
            if name not in store:
                store.put(name, _real(detail, value))
        return Partial(missing=missing)

    def _name(self, detail: Mapping[str, Any]) -> str:
        ends = {d["index"] for d in (*self._interpreter.get_input_details(),
                                     *self._interpreter.get_output_details())}  # fmt: skip
        name = str(detail["name"])
        return name if detail["index"] in ends else f"{name};{detail['index']}"

    def tensors(self) -> list[Tensor]:
        """Return every named tensor."""
        return [
            Tensor(name=self._name(detail), op="tensor", order=int(detail["index"]))
            for detail in self._interpreter.get_tensor_details()
            if detail["name"]
        ]

    def identity(self) -> dict[str, Any]:
        """Return the runtime and its version."""
        from importlib.metadata import version

        return {"runtime": NAME, "version": version("ai-edge-litert")}


def _feed(detail: Mapping[str, Any]) -> Feed:
    import numpy as np

    shape = tuple(None if size == -1 else int(size) for size in detail["shape_signature"])
    dtype = np.dtype(detail["dtype"])
    quantised = detail["quantization"][0] != 0.0
    return Feed(name=str(detail["name"]), dtype="float32" if quantised else str(dtype), shape=shape)


def _real(detail: Mapping[str, Any], value: Array) -> Array:
    """Return the numbers that a quantised tensor stands for."""
    import numpy as np

    scale, zero = detail["quantization"]
    if scale == 0.0 or value.dtype.kind not in "iu":
        return np.array(value)
    return (value.astype(np.float32) - zero) * np.float32(scale)


def _coded(detail: Mapping[str, Any], value: Array) -> Array:
    import numpy as np

    scale, zero = detail["quantization"]
    if scale == 0.0:
        return value.astype(detail["dtype"])
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])
