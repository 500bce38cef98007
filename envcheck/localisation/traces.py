"""The traces of a fit and their eight statistics: FL4Deep (Morovati et al. 2024), section 4.2.

Beside loss, accuracy and their validation twins, one trace for each of the quantities by which
DeepFD (Cao et al. 2022) and AutoTrainer (Zhang et al. 2021) describe a run: weights, gradients,
their growth from the last layer to the first, silent units, and the size of updates. A trace
has one value per epoch or per probe; what was not measured has no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.statistics import describe
from envcheck.localisation.training_log import number, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["trace_statistics", "traces_of"]


def trace_statistics(fit: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return the eight statistics of every trace of a fit, by the name of the trace."""
    return {name: describe(values) for name, values in traces_of(fit).items()}


def traces_of(fit: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """Return the traces of a fit by name; a value that is missing or not finite is None."""
    curves = fit.get("curves") or {}
    found: dict[str, list[float | None]] = {}
    for name, values in sorted((curves.get("epoch") or {}).items()):
        if name != "epoch":
            found[name] = [number(value) for value in values or ()]
    batch = curves.get("batch") or {}
    if batch.get("loss"):
        found["batch_loss"] = [number(value) for value in batch["loss"]]
    probes = fit.get("probes") or ()
    for name, measure in _MEASURES.items():
        values = [measure(probe) for probe in probes]
        if any(value is not None for value in values):
            found[name] = values
    return found


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _weights(probe: Mapping[str, Any], member: str) -> list[float]:
    return numbers([item.get(member) for item in probe.get("weights") or ()])


def _layers(probe: Mapping[str, Any], member: str) -> list[float]:
    return numbers([item.get(member) for item in probe.get("layers") or ()])


def _growth(probe: Mapping[str, Any]) -> float | None:
    """Return the gradient norm of the first kernel over that of the last one."""
    kernels = [item for item in probe.get("weights") or () if "kernel" in str(item.get("name"))]
    norms = [number(item.get("gradient_norm")) for item in kernels]
    if len(norms) < 2 or norms[0] is None or not norms[-1]:
        return None
    return norms[0] / norms[-1]


_MEASURES: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
    "probe_loss": lambda probe: number(probe.get("loss")),
    "weight_mean": lambda probe: _mean(_weights(probe, "mean_abs")),
    "weight_max": lambda probe: max(_weights(probe, "max_abs"), default=None),
    "weight_std": lambda probe: _mean(_weights(probe, "std")),
    "gradient_mean": lambda probe: _mean(_weights(probe, "gradient_mean_abs")),
    "gradient_max": lambda probe: max(_weights(probe, "gradient_max_abs"), default=None),
    "gradient_zero_share": lambda probe: _mean(_weights(probe, "gradient_zero_share")),
    "gradient_growth": _growth,
    "dead_share": lambda probe: max(_layers(probe, "dead_share"), default=None),
    "saturated_share": lambda probe: max(_layers(probe, "saturated_share"), default=None),
    "activation_std": lambda probe: _mean(_layers(probe, "std")),
    "update_ratio": lambda probe: _mean(_weights(probe, "update_ratio")),
}
"""What is taken from each probe."""
