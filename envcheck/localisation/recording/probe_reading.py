"""Turn the numbers of a probe into the probe that a training log holds."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.recording import probe_statistics as statistics
from envcheck.localisation.recording.probe_activations import is_rectifier
from envcheck.localisation.recording.probe_running import Run

__all__ = ["read_probe"]

_GRADIENT_NAMES = {
    "gradient_mean_abs": "mean_abs", "gradient_norm": "norm", "gradient_max_abs": "max_abs",
    "gradient_zero_share": "zero_share", "gradient_nonfinite_share": "nonfinite_share",
}  # fmt: skip


def read_probe(run: Run, arrays: dict[str, Any], rows: int) -> dict[str, Any]:
    """Return the probe without its place in the fit; non-finite numbers stay floats."""
    loss = arrays.get("loss")
    return {
        "loss": None if loss is None else float(loss),
        "layers": _layers(run, arrays, rows),
        "weights": _weights(run, arrays),
        "outputs": _outputs(run, arrays, rows),
    }


def _layers(run: Run, arrays: dict[str, Any], rows: int) -> list[dict[str, Any]]:
    found = []
    for (path, call, name), values in zip(
        run.layout.calls, arrays.get("activations", ()), strict=True
    ):
        layer: dict[str, Any] = {"path": path, "call": call}
        layer |= statistics.named(statistics.ACTIVATION, values)
        if not is_rectifier(name) or rows < 2:
            layer["dead_share"] = None
        if rows < 2:
            layer["constant_share"] = None
        found.append(layer)
    return found


def _weights(run: Run, arrays: dict[str, Any]) -> list[dict[str, Any]]:
    gradients = dict(zip(run.layout.gradients, arrays.get("gradients", ()), strict=True))
    known = "gradients" in arrays
    found = []
    for place, (layer, name, variable) in enumerate(run.layout.weights):
        values = statistics.named(statistics.WEIGHT, arrays["weights"][place])
        weight: dict[str, Any] = {
            "layer": layer, "name": name, "trainable": bool(variable.trainable),
            **{key: values[key] for key in
               ("mean_abs", "std", "max_abs", "small_share", "nonfinite_share", "nan_share")},
            "update_ratio": None,
        }  # fmt: skip
        weight |= dict.fromkeys(_GRADIENT_NAMES)
        weight["gradient"] = "unknown"
        if place in gradients:
            slope = statistics.named(statistics.WEIGHT, gradients[place])
            weight |= {key: slope[source] for key, source in _GRADIENT_NAMES.items()}
            weight["gradient"] = "ok"
        elif known and variable.trainable:
            weight["gradient"] = "none"
        found.append(weight)
    return found


def _outputs(run: Run, arrays: dict[str, Any], rows: int) -> list[dict[str, Any]]:
    found = []
    for name, values in zip(run.layout.outputs, arrays.get("outputs", ()), strict=True):
        read = statistics.named(statistics.OUTPUT, values)
        classes = read["argmax_classes"]
        found.append({
            "output": name,
            "row_sum_deviation": read["row_sum_deviation"],
            "range": [read["min"], read["max"]],
            "constant": read["constant"] == 1.0 and rows > 1,
            "argmax_classes": None if classes is None else int(classes),
            "clipped_share": read["clipped_share"],
        })  # fmt: skip
    return found
