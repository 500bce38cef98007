"""How far rounding alone moves each value: the reference against itself in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.calls import Port
from envcheck.conversion.recording import record
from envcheck.conversion.spread import measure_spread
from envcheck.conversion.stores import Store

if TYPE_CHECKING:
    from envcheck.conversion.calls import Recording
    from envcheck.conversion.inputs import Samples

__all__ = ["UNIT", "Noise", "float64_twin", "measure_noise"]

UNIT = {"float64": 1.2e-16, "float32": 6.0e-8, "float16": 4.9e-4, "bfloat16": 3.9e-3}
"""Unit roundoff by type: half the distance from 1 to the next number."""
FLOOR = 6e-6
"""Relative error below which float32 values count as aligned, however small the noise is.

100 times the unit roundoff; 40 times what clean conversions reach.
"""
FIXED = 2e-5
"""The same where the noise could not be measured."""
ROOM = 30.0
"""How many times its noise a value may be off and still count as aligned.

Clean conversions stay below 2.6 times (measured over 24 architectures); a single kernel rounded to
float16 reaches about 900 times. Alignment has to be as tight as that, since what aligns is not
looked at any more: of 29 faults planted in six Keras models, a limit of 1e-3 or 1000 times the
noise missed the 4 rounded kernels, and limits of 30 times and of 5 times missed none. 30 leaves
room for other machines.
"""
FALLBACK = 1e-6
"""The noise of a float32 value where it cannot be measured."""
MOST_WEIGHTS = 256 << 20
"""Bytes of weights up to which a model is built again in float64."""
_DTYPES = frozenset(
    ("float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16", "float64")
)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of each value, by port, and how it was found.

    `method` is float64, spread or fixed; `reason` says why it is not float64.
    """

    method: str
    reason: str = ""
    floors: dict[Port, float] = field(default_factory=dict)
    unit: float = UNIT["float32"]

    def of(self, port: Port) -> float:
        """Return the noise of a value, as a relative error."""
        return self.floors.get(port, FALLBACK * self.unit / UNIT["float32"])

    def tolerance(self, port: Port) -> float:
        """Return the relative error up to which a value counts as aligned."""
        floor = FLOOR if self.method == "float64" else FIXED
        if self.unit > UNIT["float32"]:
            floor = 6 * self.unit
        return min(max(floor, ROOM * self.of(port)), 0.05)


def measure_noise(model: Any, samples: Samples, recording: Recording, *, method: str) -> Noise:
    """Return the noise of every recorded value.

    `method` is `float64` (else the spread of the model's own runs, else a fixed guess), `spread`
    or `off` (a fixed guess).
    """
    unit = _unit(model)
    if method == "off":
        return Noise(method="fixed", reason="as asked", unit=unit)
    reason = "as asked"
    if method == "float64":
        floors, reason = _from_twin(model, samples, recording, unit)
        if floors:
            return Noise(method="float64", floors=floors, unit=unit)
    try:
        floors = measure_spread(model, samples, recording, unit)
    except Exception as problem:  # noqa: BLE001 - layers of any origin
        return Noise(method="fixed", reason=f"{reason}, and {_told(problem)}", unit=unit)
    if not floors:
        return Noise(method="fixed", reason=reason, unit=unit)
    least = FALLBACK * unit / UNIT["float32"]
    floors = {port: max(error, least) for port, error in floors.items()}
    return Noise(method="spread", reason=reason, floors=floors, unit=unit)


def _from_twin(
    model: Any, samples: Samples, recording: Recording, unit: float
) -> tuple[dict[Port, float], str]:
    """Return the noise against the float64 twin, or why there is none."""
    if not hasattr(model, "_flatten_layers"):
        return {}, "the reference shows no layers"
    size = sum(4 * math.prod(weight.shape) for weight in model.weights)
    if size > MOST_WEIGHTS:
        return {}, f"a float64 copy of {size >> 20} MiB of weights takes too much memory"
    try:
        floors = _against(float64_twin(model), samples, recording, unit)
    except Exception as problem:  # noqa: BLE001 - layers of any origin
        return {}, _told(problem)
    return floors, "" if floors else "no call of the float64 twin matches"


def _told(problem: Exception) -> str:
    first = str(problem).strip().splitlines()[:1] or [""]
    return f"{type(problem).__name__}: {first[0][:160]}"


def _unit(model: Any) -> float:
    """Return the unit roundoff of the coarsest type that a layer computes in."""
    layers = getattr(model, "_flatten_layers", None)
    found = [str(getattr(x, "compute_dtype", "float32")) for x in layers()] if layers else []
    return max((UNIT.get(name, 0.0) for name in found), default=0.0) or UNIT["float32"]


def float64_twin(model: Any) -> Any:
    """Return the same model computing in float64, with the same weights.

    Raises whatever a layer raises that cannot be rebuilt from its configuration.
    """
    from keras.src.saving.serialization_lib import SafeModeScope

    known = {type(layer).__name__: type(layer) for layer in model._flatten_layers()}
    config = _rewritten(model.get_config())
    with SafeModeScope(False):  # the code in question is already loaded and running
        import keras

        with keras.saving.custom_object_scope(known):
            twin = type(model).from_config(config)
    if not twin.built and getattr(model, "built", False):
        twin.build(model._build_shapes_dict or model.input_shape)
    twin.set_weights(model.get_weights())
    return twin


def _rewritten(config: Any) -> Any:
    """Return a configuration with every floating-point type replaced by float64."""
    if isinstance(config, dict):
        return {
            key: _dtype(value) if key == "dtype" else _rewritten(value)
            for key, value in config.items()
        }
    if isinstance(config, list):
        return [_rewritten(value) for value in config]
    if isinstance(config, tuple):
        return tuple(_rewritten(value) for value in config)
    return config


def _dtype(value: Any) -> Any:
    name = value
    if isinstance(value, dict):
        name = value.get("config", {}).get("name")
    return "float64" if name in _DTYPES else value


def _against(twin: Any, samples: Samples, recording: Recording, unit: float) -> dict[Port, float]:
    import numpy as np

    values = tuple(
        value.astype(np.float64) if value.dtype.kind == "f" else value for value in samples.values
    )
    store = Store(budget=256 << 20)
    try:
        other = record(twin, samples.packed(values), store, names=samples.names)
        by_name = {(call.path, call.index): call for call in other.calls}
        floors = {}
        for call in recording.calls:
            twin_call = by_name.get((call.path, call.index))
            if twin_call is None or len(twin_call.outputs) != len(call.outputs):
                continue
            for port, true in zip(call.outputs, twin_call.outputs, strict=True):
                value = recording.value(port)
                if is_number(value) and not is_exact_kind(value) and other.has(true):
                    floors[port] = max(relative_error(value, other.value(true)), unit)
        return floors
    finally:
        store.close()
