"""Whether the runtime's own optimisations change what a file computes, and which of them."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.investigation import Investigation
    from envcheck.conversion.runtimes.protocol import Settings
    from envcheck.conversion.tracing import Comparison

__all__ = ["LEVELS", "Divergence", "Optimised", "try_levels"]

LEVELS = ("disabled", "basic", "extended", "all")
OPTIMISERS = (
    "ConstantFolding", "ConvBNFusion", "ConvMulFusion", "ConvAddFusion", "MatMulBNFusion",
    "MatMulAddFusion", "MatMulScaleFusion", "MatMulActivationFusion", "GemmActivationFusion",
    "ConvActivationFusion", "ConvAddActivationFusion", "LayerNormFusion", "LayerNormFusionL2",
    "SimplifiedLayerNormFusion", "SkipLayerNormFusion", "GeluFusionL1", "GeluFusionL2",
    "FastGeluFusion", "GeluApproximation", "QuickGeluFusion", "BiasGeluFusion",
    "BiasSoftmaxFusion", "AttentionFusion", "EmbedLayerNormFusion", "ReluClipFusion",
    "CastElimination", "CastChainElimination", "CommonSubexpressionElimination", "PadFusion",
    "TransposeOptimizer", "NchwcTransformer", "NhwcTransformer", "ReshapeFusion",
    "FreeDimensionOverrideTransformer", "ConcatSliceElimination", "DivMulFusion",
)  # fmt: skip
"""Names that ONNX Runtime can leave out one by one; those that it does not know do nothing."""


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The lowest level at which an output is off, and what the runtime did there, if known.

    `below` is the level under it; `node` and `tensor` are the first of the optimised graph whose
    value differs.
    """

    level: str
    below: str
    output: str
    error: float
    optimiser: str = ""
    node: str = ""
    tensor: str = ""


@dataclass(frozen=True, kw_only=True)
class Optimised:
    """What the runtime's optimisations do to the outputs."""

    note: str = ""
    divergence: Divergence | None = None


def try_levels(found: Investigation, path: str, settings: Settings) -> Optimised | None:
    """Return what the optimisations of ONNX Runtime change; None where they cannot be tried."""
    comparison = found.comparison
    if comparison is None or comparison.candidate.name != "onnxruntime" or found.failure:
        return None
    trial = _Trial(comparison, path, settings)
    try:
        moved, _, _ = trial.worst(trial.run("all"), against_reference=False)
        diverging = [level for level in LEVELS[1:] if trial.is_off(trial.run(level))]
    except Failure as failure:
        return Optimised(note=f"optimised, the runtime fails: {failure.message[:200]}")
    note = f"the runtime's optimisations move the outputs by {moved:.1g} (relative L2)"
    agree = all(output.agrees for output in found.outputs)
    if not diverging or not agree:
        return Optimised(note=note)
    return Optimised(note=note, divergence=_attributed(trial, diverging[0]))


def _attributed(trial: _Trial, level: str) -> Divergence:
    error, output, _ = trial.worst(trial.run(level), against_reference=True)
    node, tensor = trial.first_node(level)
    return Divergence(
        level=level,
        below=LEVELS[LEVELS.index(level) - 1],
        output=output,
        error=error,
        optimiser=trial.optimiser(level),
        node=node,
        tensor=tensor,
    )


class _Trial:
    """Runs of one file at several levels on the same inputs."""

    def __init__(self, comparison: Comparison, path: str, settings: Settings) -> None:
        self._comparison = comparison
        self._path = path
        self._settings = settings

    def run(self, level: str, without: Sequence[str] = (), save: str = "") -> list[Array]:
        """Return the outputs at a level, without some optimisers. Raises Failure."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self._settings.threads
        name = "ORT_DISABLE_ALL" if level == "disabled" else f"ORT_ENABLE_{level.upper()}"
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, name)
        if save:
            options.optimized_model_filepath = save
        provider = str(self._comparison.candidate.identity()["provider"])
        try:
            session = onnxruntime.InferenceSession(
                self._path, options, providers=[provider], disabled_optimizers=list(without)
            )
            outputs: list[Any] = session.run(None, dict(self._comparison.feeds))
        except Exception as problem:
            raise Failure("run", str(problem)) from problem
        return outputs

    def worst(self, values: list[Array], *, against_reference: bool) -> tuple[float, str, bool]:
        """Return the largest error, the output that has it, and whether it is beyond tolerance."""
        comparison, found = self._comparison, []
        seen = {f.name: v for f, v in zip(comparison.candidate.outputs, values, strict=True)}
        for place, port in enumerate(comparison.recording.outputs):
            name, wanted = comparison.outputs[place], comparison.recording.value(port)
            if not against_reference:
                wanted = comparison.store.get(name)
            if wanted.dtype.kind in "OSU":
                continue
            error = relative_error(seen[name], wanted)
            shown = comparison.recording.output_names[place]
            found.append((error, shown, error > comparison.tolerance(port)))
        return max(found, default=(0.0, "", False))

    def is_off(self, values: list[Array]) -> bool:
        """Return whether an output is beyond its tolerance."""
        comparison = self._comparison
        seen = {f.name: v for f, v in zip(comparison.candidate.outputs, values, strict=True)}
        return not all(
            comparison.output_agrees(place, seen.__getitem__)
            for place in range(len(comparison.outputs))
        )

    def optimiser(self, level: str) -> str:
        """Return the optimiser without which the outputs agree at a level, or nothing."""
        for name in OPTIMISERS:
            try:
                if not self.is_off(self.run(level, without=[name])):
                    return name
            except Failure:
                continue
        return ""

    def first_node(self, level: str) -> tuple[str, str]:
        """Return the first node of the optimised graph whose value differs, and its tensor."""
        from envcheck.conversion.runtimes.discovery import open_file
        from envcheck.conversion.stores import Store
        from envcheck.errors import InputError

        comparison, store = self._comparison, Store(self._settings.budget)
        try:
            with tempfile.TemporaryDirectory(prefix="envcheck-") as folder:
                saved = os.path.join(folder, "optimised.onnx")
                self.run(level, save=saved)
                opened = open_file(saved, replace(self._settings, level="none"), "onnxruntime")
                opened.run_all(comparison.feeds, store)
                made = [t for t in opened.tensors() if t.order >= 0 and t.name in store]
                for tensor in made:
                    if tensor.name in comparison.store and self._differs(tensor.name, store):
                        return f"{tensor.op} {tensor.node_name}".strip(), tensor.name
        except (Failure, InputError):
            pass
        finally:
            store.close()
        return "", ""

    def _differs(self, name: str, store: Any) -> bool:
        before, after = self._comparison.store.get(name), store.get(name)
        if before.size != after.size or before.dtype.kind not in "biuf":
            return False
        port = next((p for p, m in self._comparison.matches.items() if m.tensor == name), None)
        room = self._comparison.tolerance(port or self._comparison.recording.outputs[0])
        return relative_error(after, before) > room
