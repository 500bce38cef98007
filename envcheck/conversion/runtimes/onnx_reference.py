"""The reference evaluator of the onnx package: slow, and a second opinion about ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.runtimes.onnx_candidate import OnnxCandidate
from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.runtimes.protocol import Settings

__all__ = ["NAME", "SUFFIXES", "open_candidate"]

NAME = "onnx-reference"
SUFFIXES = (".onnx",)


def open_candidate(path: str, settings: Settings) -> OnnxCandidate:
    """Load an ONNX file."""
    return _Candidate(path, budget=settings.budget)


class _Candidate(OnnxCandidate):
    name = NAME

    def execute(
        self, model: bytes, feeds: Mapping[str, Array], wanted: Sequence[str]
    ) -> list[Array]:
        """Run a serialised model."""
        import numpy as np
        import onnx
        from onnx.reference import ReferenceEvaluator

        stage = "load"
        try:
            evaluator = ReferenceEvaluator(onnx.load_from_string(model))
            stage = "run"
            with np.errstate(all="ignore"):
                found = evaluator.run(list(wanted), dict(feeds))
        except Exception as problem:
            raise Failure(stage, f"{type(problem).__name__}: {problem}") from problem
        return [np.asarray(value) for value in found]

    def identity(self) -> dict[str, Any]:
        """Return the runtime and its version."""
        import onnx

        return {"runtime": NAME, "version": onnx.__version__}
