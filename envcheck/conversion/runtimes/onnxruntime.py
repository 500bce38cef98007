"""ONNX Runtime, at a given optimisation level, thread count and provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.runtimes.onnx_candidate import OnnxCandidate, node_in
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.runtimes.protocol import Settings

__all__ = ["NAME", "SUFFIXES", "open_candidate"]

NAME = "onnxruntime"
SUFFIXES = (".onnx",)


def open_candidate(path: str, settings: Settings) -> OnnxCandidate:
    """Load an ONNX file."""
    return _Candidate(path, settings)


class _Candidate(OnnxCandidate):
    name = NAME

    def __init__(self, path: str, settings: Settings) -> None:
        try:
            import onnxruntime
        except ImportError as problem:
            raise MissingExtra("onnxruntime", "onnx", "running an ONNX file") from problem
        onnxruntime.set_default_logger_severity(4)
        self._settings = settings
        self._runtime = onnxruntime
        available = onnxruntime.get_available_providers()
        wanted = settings.provider or "CPUExecutionProvider"
        names = {name.lower().replace("executionprovider", ""): name for name in available}
        self._provider = names.get(wanted.lower().replace("executionprovider", ""), "")
        if not self._provider:
            raise UsageError(
                f"ONNX Runtime has no provider {wanted!r} here", hint=f"it has {', '.join(names)}"
            )
        super().__init__(path, budget=settings.budget)

    def execute(
        self, model: bytes, feeds: Mapping[str, Array], wanted: Sequence[str]
    ) -> list[Array]:
        """Run a serialised model."""
        runtime = self._runtime
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        level = runtime.GraphOptimizationLevel
        whole = self._settings.level == "all"
        options.graph_optimization_level = level.ORT_ENABLE_ALL if whole else level.ORT_DISABLE_ALL
        options.intra_op_num_threads = self._settings.threads
        options.enable_mem_pattern = False
        stage = "load"
        try:
            session = runtime.InferenceSession(model, options, providers=[self._provider])
            stage = "run"
            result: list[Array] = session.run(list(wanted), dict(feeds))
        except Exception as problem:
            message = str(problem)
            raise Failure(stage, message, node_in(message)) from problem
        return result

    def verify(self) -> None:
        """Load the file as it is, with the optimisations of a deployment."""
        options = self._runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self._settings.threads
        try:
            self._runtime.InferenceSession(self.path, options, providers=[self._provider])
        except Exception as problem:
            message = str(problem)
            raise Failure("load", message, node_in(message)) from problem

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its settings."""
        return {
            "runtime": NAME,
            "version": self._runtime.__version__,
            "level": self._settings.level,
            "threads": self._settings.threads or None,
            "provider": self._provider,
        }
