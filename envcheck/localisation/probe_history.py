"""The probes of one fit in order, with what is known of the layers they are about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["History", "Moment", "Probe", "is_broken", "share"]

_SETTLING = 100
"""Steps after which moving averages of the usual momentum (0.99) are settled for the most part."""

_MOST_POINTS = 50


@dataclass(frozen=True)
class Moment:
    """A point of a fit: `step` steps are done, `batch` of them in epoch `epoch` (from 0)."""

    step: int
    epoch: int
    batch: int

    def __str__(self) -> str:
        """Return it as text; batches and epochs count from 1."""
        if self.batch == 0:
            return f"the start of epoch {self.epoch + 1}"
        return f"batch {self.batch} of epoch {self.epoch + 1}"


@dataclass(frozen=True)
class Probe:
    """One probe of a fit, and its position in the log."""

    data: Mapping[str, Any]
    index: int

    @property
    def moment(self) -> Moment:
        """When it was made."""
        step, epoch, batch = (int(self.data.get(key) or 0) for key in ("step", "epoch", "batch"))
        return Moment(step, epoch, batch)

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        """The layer calls in forward order."""
        return self.data.get("layers") or ()

    @property
    def weights(self) -> Sequence[Mapping[str, Any]]:
        """The weights in the order of the model."""
        return self.data.get("weights") or ()

    @property
    def outputs(self) -> Sequence[Mapping[str, Any]]:
        """The outputs of the model."""
        return self.data.get("outputs") or ()

    def source(self, kind: str, place: int, field: str) -> str:
        """Return where a number of it stands within the fit."""
        return f"probes/{self.index}/{kind}/{place}/{field}"


class History:
    """The probes of a fit, oldest first."""

    def __init__(self, fit: Mapping[str, Any], model: Mapping[str, Any] | None) -> None:
        self.fit = fit
        self.model: Mapping[str, Any] = model or {}
        probes = [Probe(data, index) for index, data in enumerate(fit.get("probes") or ())]
        self.probes = sorted(probes, key=lambda probe: probe.moment.step)
        self._layers = {layer.get("path"): layer for layer in self.model.get("layers") or ()}
        self._order = _forward_order(self.probes)
        self._after_averages = self._settles_after()

    def until(self, step: int) -> History:
        """Return the history before a step."""
        shorter = History(self.fit, self.model)
        shorter.probes = [probe for probe in self.probes if probe.moment.step < step]
        return shorter

    def place(self, path: str) -> int:
        """Return the place of a layer in forward order; unknown ones come last."""
        return self._order.get(path, len(self._order))

    def layer(self, path: str) -> Mapping[str, Any]:
        """Return what the log says of a layer, empty for nothing."""
        return self._layers.get(path) or {}

    def is_output(self, path: str) -> bool:
        """Return whether a layer makes an output of the model."""
        made = {output.get("layer") for output in self.model.get("outputs") or ()}
        last = max(self._order, key=self.place, default=None)
        return path in made or path == last

    def is_settled(self, path: str, probe: Probe) -> bool:
        """Return whether a layer's values in inference mode say anything about training.

        Behind a batch normalisation they do not before its moving averages have settled.
        """
        return probe.moment.step >= _SETTLING or self.place(path) < self._after_averages

    def series(self, label: str, values: Callable[[Probe], Any]) -> tuple[dict[str, Any], ...]:
        """Return a curve over the steps for a plot, of at most 50 points."""
        stride = max(1, math.ceil(len(self.probes) / _MOST_POINTS))
        pairs = [(probe.moment.step, number(values(probe))) for probe in self.probes[::stride]]
        points = [[step, value] for step, value in pairs if value is not None]
        return ({"label": label, "points": points},) if len(points) > 1 else ()

    def _settles_after(self) -> int:
        averaged = [
            self.place(str(path))
            for path, layer in self._layers.items()
            if "BatchNormalization" in str(layer.get("class"))
        ]
        return min(averaged, default=len(self._order) + 1)


def _forward_order(probes: Sequence[Probe]) -> dict[str, int]:
    """Return the place of each layer among the calls, or among the weights where none ran."""
    ran = next((probe for probe in probes if probe.calls), None)
    if ran is not None:
        paths: Iterator[Any] = (call.get("path") for call in ran.calls)
    else:
        paths = (weight.get("layer") for probe in probes[:1] for weight in probe.weights)
    return {str(path): place for place, path in enumerate(dict.fromkeys(paths))}


def is_broken(value: Any) -> bool:
    """Return whether a value is a number and not finite."""
    return isinstance(value, float) and not math.isfinite(value)


def share(value: Any) -> float:
    """Return a share, 0 where it is not known."""
    return number(value) or 0.0
