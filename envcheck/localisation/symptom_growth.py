"""Growth beyond all bounds: weights, values and gradients compared with the first probe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envcheck.localisation.probe_history import History, Probe

__all__ = ["Growth", "grown"]

_TIMES = 1e3
"""Growth since the first probe that no healthy training shows."""

_LARGE = {"weights": 1e2, "values": 1e4, "gradient": 1e4}
"""What is grown must also be large; absolute size alone depends on the units of the data."""

_LEAST_BASE = 0.01
"""Size at the start that growth is measured from at least: biases begin with 0."""

_FOLLOWED = 50.0
"""How much smaller growth and size may be when NaN or infinity did follow."""

_FROM_THE_START = {"weights": 1e3, "values": 1e7}
"""Size at the first probe that is wrong by itself, if the inputs are of ordinary size."""


@dataclass(frozen=True)
class Growth:
    """A weight, value or gradient that has grown, and by how much."""

    layer: str
    tensor: str
    seen: str
    expected: str
    sources: tuple[str, ...]
    series: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class _Size:
    layer: str
    tensor: str
    group: str
    value: float
    source: str


def grown(history: History, probe: Probe, *, followed: bool = False) -> Growth | None:
    """Return the first thing in forward order that has grown, weights before values.

    In the first probe that is what is enormous from the start. Less growth is enough where it was
    `followed` by NaN or infinity.
    """
    ease = _FOLLOWED if followed else 1.0
    first = history.probes[0]
    if probe.index == first.index:
        return _enormous(history, probe)
    before = {(size.layer, size.tensor): size.value for size in _sizes(first)}
    found = []
    for size in _sizes(probe):
        base = max(before.get((size.layer, size.tensor), math.inf), _LEAST_BASE)
        if size.value < _LARGE[size.group] / ease:
            continue
        settled = size.group == "weights" or history.is_settled(size.layer, probe)
        if size.value >= _TIMES / ease * base and settled:
            found.append((size, base))
    if not found:
        return None
    size, base = min(found, key=lambda item: _rank(history, item[0]))
    return Growth(
        layer=size.layer,
        tensor=size.tensor,
        seen=f"{size.tensor} up to {size.value:.3g}, {size.value / base:.3g} times the start",
        expected=f"less than {_TIMES / ease:.0f} times the size at the start ({base:.3g})",
        sources=(size.source,),
        series=history.series(f"{size.layer} {size.tensor}", lambda p: _size_in(p, size)),
    )


def _enormous(history: History, probe: Probe) -> Growth | None:
    inputs = (history.fit.get("data") or {}).get("inputs") or ()
    ends = [abs(number(array.get(key)) or 0.0) for array in inputs for key in ("min", "max")]
    found = [
        size
        for size in _sizes(probe)
        if size.value >= _FROM_THE_START.get(size.group, float("inf"))
        and (size.group == "weights" or max(ends, default=0.0) < 1e3)
        and (size.group == "weights" or history.is_settled(size.layer, probe))
    ]
    if not found:
        return None
    size = min(found, key=lambda item: _rank(history, item))
    return Growth(
        layer=size.layer,
        tensor=size.tensor,
        seen=f"{size.tensor} up to {size.value:.3g} before the first step",
        expected=f"less than {_FROM_THE_START[size.group]:.3g}",
        sources=(size.source,),
    )


def _rank(history: History, size: _Size) -> tuple[int, int]:
    groups = ("weights", "values", "gradient")
    return groups.index(size.group), history.place(size.layer)


def _sizes(probe: Probe) -> Iterator[_Size]:
    """Yield the largest magnitudes of trained weights, of layer values and of gradients."""
    for k, weight in enumerate(probe.weights):
        layer, name = str(weight.get("layer")), str(weight.get("name"))
        if not weight.get("trainable", True):
            continue
        for group, tensor, key in (
            ("weights", name, "max_abs"),
            ("gradient", f"gradient of {name}", "gradient_max_abs"),
        ):
            value = number(weight.get(key))
            if value is not None:
                yield _Size(layer, tensor, group, value, probe.source("weights", k, key))
    seen = set()
    for k, call in enumerate(probe.calls):
        path, value = str(call.get("path")), _magnitude(call)
        if path not in seen and value is not None:
            seen.add(path)
            yield _Size(path, "values", "values", value, probe.source("layers", k, "max"))


def _magnitude(call: Mapping[str, Any]) -> float | None:
    """Return the 95th percentile of the magnitudes: one outlier is no growth."""
    return number(call.get("p95_abs"))


def _size_in(probe: Probe, wanted: _Size) -> float | None:
    for size in _sizes(probe):
        if (size.layer, size.tensor) == (wanted.layer, wanted.tensor):
            return size.value
    return None
