"""ONNX files under ONNX Runtime, as a server would run them: no `onnx` package needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.errors import MissingExtra
from envcheck.goldens.engines import RunFailed, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.goldens.layers import Layer

__all__ = ["OnnxEngine"]

_TYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
    "tensor(int8)": "int8", "tensor(int16)": "int16", "tensor(int32)": "int32",
    "tensor(int64)": "int64", "tensor(uint8)": "uint8", "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32", "tensor(uint64)": "uint64", "tensor(bool)": "bool",
    "tensor(string)": "str",
}  # fmt: skip


class OnnxEngine:
    """A session with the runtime's own defaults."""

    def __init__(self, path: str) -> None:
        try:
            import onnxruntime
        except ImportError as problem:
            raise MissingExtra("onnxruntime", "onnx", "running an ONNX file") from problem
        self._runtime = onnxruntime
        self._path = path
        self._session = self._open()
        self.inputs = tuple(_spec(item) for item in self._session.get_inputs())
        self.outputs = tuple(item.name for item in self._session.get_outputs())

    def _open(self, **settings: Any) -> Any:
        options = self._runtime.SessionOptions()
        options.log_severity_level = 3
        for name, value in settings.items():
            setattr(options, name, value)
        providers = self._runtime.get_available_providers()
        try:
            return self._runtime.InferenceSession(self._path, options, providers=providers)
        except Exception as problem:
            raise RunFailed("load", str(problem)) from problem

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs in order. Raises RunFailed."""
        return _run(self._session, feeds)

    def variants(self) -> dict[str, Callable[[Mapping[str, Any]], list[Any]]]:
        """Return: one thread, and the graph as it stands in the file."""
        one = self._open(intra_op_num_threads=1)
        level = self._runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        plain = self._open(graph_optimization_level=level)
        return {
            "one thread": lambda feeds: _run(one, feeds),
            "graph not optimised": lambda feeds: _run(plain, feeds),
        }

    def layers(self, feeds: Mapping[str, Any]) -> dict[str, list[Layer]]:
        """Return digests of every tensor of the graph as it stands in the file.

        Raises MissingExtra: `onnx` takes the graph apart.
        """
        from envcheck.goldens.other_engine import layers_of

        return layers_of(self._path, feeds)

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its providers."""
        return {
            "runtime": "onnxruntime",
            "version": self._runtime.__version__,
            "providers": self._session.get_providers(),
        }


def _run(session: Any, feeds: Mapping[str, Any]) -> list[Any]:
    import numpy as np

    try:
        found = session.run(None, dict(feeds))
    except Exception as problem:
        raise RunFailed("run", str(problem)) from problem
    return [np.asarray(value) for value in found]


def _spec(item: Any) -> Spec:
    shape = tuple(size if isinstance(size, int) else None for size in item.shape)
    return Spec(item.name, _TYPES.get(item.type, item.type), shape)
