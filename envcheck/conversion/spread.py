"""How far the reference moves by itself: what stands in where no float64 twin can be built.

The model runs again with the last bit of every layer's output changed at random, which is
stochastic arithmetic (Parker, Monte Carlo Arithmetic, 1997) at the grain of layers, once more as
it was, and one sample at a time. A layer that amplifies rounding shows it; optimisation levels
are left out on purpose, since a fusion that computes something else would hide itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.calls import Port, Recording
from envcheck.conversion.recording import record
from envcheck.conversion.stores import Store

if TYPE_CHECKING:
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.inputs import Samples

__all__ = ["measure_spread"]

SEEDS = (1, 2, 3)
_ROUNDING = 1e-3
"""A difference between batch sizes beyond this is no rounding: the model mixes its samples."""


def measure_spread(
    model: Any, samples: Samples, recording: Recording, unit: float
) -> dict[Port, float]:
    """Return by port the largest relative error of a value between runs of the same model.

    `unit` is the unit roundoff of the type that the model computes in. Raises what the model
    raises.
    """
    found: dict[Port, float] = {}
    for seed in SEEDS:
        _keep(found, _against(model, samples.values, samples, recording, _jitter(seed, unit)))
    _keep(found, _against(model, samples.values, samples, recording, None))
    for port, error in _by_sample(model, samples, recording).items():
        if error <= _ROUNDING:
            _keep(found, {port: error})
    return found


def _keep(found: dict[Port, float], errors: dict[Port, float]) -> None:
    for port, error in errors.items():
        found[port] = max(found.get(port, 0.0), error)


class _Differences(Store):
    """Takes the values of a run and keeps how far they are from those of a recording."""

    def __init__(self, wanted: Store, pick: Callable[[Array], Array]) -> None:
        super().__init__(budget=0)
        self._wanted = wanted
        self._pick = pick
        self.errors: dict[str, float] = {}

    def put(self, name: str, array: Array) -> None:
        """Compare an array with the recorded one, where their shapes allow it."""
        if name not in self._wanted or not is_number(array) or is_exact_kind(array):
            return
        wanted = self._wanted.get(name)
        wanted = self._pick(wanted) if wanted.shape != array.shape else wanted
        if wanted.shape == array.shape:
            self.errors[name] = relative_error(array, wanted)


def _against(
    model: Any,
    values: tuple[Array, ...],
    samples: Samples,
    recording: Recording,
    change: Callable[[Any], Any] | None,
    row: int | None = None,
) -> dict[Port, float]:
    def pick(value: Array) -> Array:
        return value[row : row + 1] if row is not None and value.ndim else value

    store = _Differences(recording.store, pick)
    again = record(model, samples.packed(values), store, names=samples.names, change=change)
    if len(again.calls) != len(recording.calls):
        return {}
    return {
        port: store.errors[port.key]
        for call in recording.calls
        for port in call.outputs
        if port.key in store.errors
    }


def _by_sample(model: Any, samples: Samples, recording: Recording) -> dict[Port, float]:
    """Return the errors of runs on one sample at a time; none where the model refuses them."""
    found: dict[Port, float] = {}
    rows = {value.shape[0] for value in samples.values if value.ndim}
    for row in range(min(rows, default=0) if len(rows) == 1 else 0):
        values = tuple(value[row : row + 1] for value in samples.values)
        try:
            _keep(found, _against(model, values, samples, recording, None, row))
        except Exception:  # noqa: BLE001 - a batch size that is part of the model
            return {}
    return found


def _jitter(seed: int, unit: float) -> Callable[[Any], Any]:
    """Return what changes a layer's output by up to its last bit."""
    import numpy as np

    generator = np.random.default_rng(seed)

    def change(tensor: Any) -> Any:
        import keras

        value = np.asarray(tensor)
        if value.dtype.kind != "f":
            return tensor
        factors = 1 + unit * generator.uniform(-1, 1, value.shape)
        made = keras.ops.convert_to_tensor((value * factors).astype(value.dtype))
        mask = getattr(tensor, "_keras_mask", None)
        if mask is not None:
            made._keras_mask = mask
        return made

    return change
