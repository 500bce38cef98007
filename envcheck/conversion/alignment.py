"""Find, for every value of the reference, the tensor of the candidate that holds it.

Names are used to choose between tensors of equal values and for nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.conversion.arrays import is_exact_kind, is_number, relative_error
from envcheck.conversion.layouts import Layout, every
from envcheck.conversion.sketches import WINDOW, Index, sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Call, Port, Recording
    from envcheck.conversion.graphs import Tensor

__all__ = ["GOOD", "Aligner", "Match", "classify"]

SAMPLES = 2048
"""Positions at which layouts are scored before whole arrays are compared."""
GOOD = frozenset({"exact", "alias", "folded", "merged", "constant", "healed"})
"""Kinds of calls that are accounted for."""
_SPLIT = re.compile(r"[/:;.]+")
_COUNTER = re.compile(r"_\d+$")


@dataclass(frozen=True, kw_only=True)
class Match:
    """A tensor that holds a reference value: in which layout, and with what relative error."""

    tensor: str
    layout: Layout
    error: float


class Aligner:
    """Matches reference values with candidate tensors, within a tolerance per value."""

    def __init__(
        self,
        recording: Recording,
        tensors: Mapping[str, Tensor],
        tolerance: Callable[[Port], float],
    ) -> None:
        self.recording = recording
        self.tolerance = tolerance
        self._tensors = tensors
        self._words = {name: _words(f"{t.node_name}/{name}") for name, t in tensors.items()}
        self._names = {
            port: _COUNTER.sub("", call.path.rpartition("/")[2])
            for call in recording.calls
            for port in call.outputs
            if port.call == call.id
        }

    def align(
        self, ports: Iterable[Port], index: Index, value: Callable[[str], Array]
    ) -> dict[Port, Match]:
        """Return the match of each port that has one among the tensors of an index."""
        found = {}
        for port in ports:
            match = self.match(port, index, value)
            if match is not None:
                found[port] = match
        return found

    def match(self, port: Port, index: Index, value: Callable[[str], Array]) -> Match | None:
        """Return the best match of one port, or None."""
        wanted = self.recording.value(port)
        if not is_number(wanted) or wanted.size == 0:
            return None
        window = max(WINDOW, self.tolerance(port))  # a sketch moves no further than the values
        names = index.near(wanted.size, sketch(wanted), window)
        ordered = sorted(names, key=lambda name: self._preference(port, name))
        for name in ordered:
            found = self._layout(wanted, value(name), self.tolerance(port))
            if found is not None:
                return Match(tensor=name, layout=found[0], error=found[1])
        return None

    def scope_agrees(self, port: Port, name: str) -> bool:
        """Return whether a tensor's name, or its node's, contains the name of the layer."""
        return self._names.get(port, "") in self._words.get(name, ())

    def _preference(self, port: Port, name: str) -> tuple[bool, int]:
        tensor = self._tensors.get(name)
        return not self.scope_agrees(port, name), tensor.order if tensor else 0

    def _layout(self, wanted: Array, seen: Array, tolerance: float) -> tuple[Layout, float] | None:
        """Return the first layout that fits, sampled positions first, and its error."""
        import numpy as np

        exact = is_exact_kind(wanted)
        flat = seen.reshape(-1)
        places = _places(flat.size)
        sampled = flat[places]
        scale = max(_rms(wanted), 1e-30)
        room = 0.0 if exact else max(20 * tolerance, 1e-4) * scale
        for layout in every(wanted.ndim):
            turned = layout.permuted(wanted)
            there = turned[np.unravel_index(places, turned.shape)] if turned.ndim else turned
            gap = sampled.astype(np.float64) - np.asarray(there, dtype=np.float64).reshape(-1)
            gap = gap[np.isfinite(gap)]
            if gap.size and float(np.sqrt(np.mean(gap * gap))) > room:
                continue
            error = relative_error(seen, layout.apply(wanted, seen.shape))
            if error <= (0.0 if exact else tolerance):
                return layout, error
        return None


def classify(
    recording: Recording,
    matches: Mapping[Port, Match],
    *,
    healed: frozenset[int] = frozenset(),
    outputs_good: frozenset[int] | None = None,
    suspects: frozenset[int] = frozenset(),
) -> dict[int, str]:
    """Return the kind of every call: exact, alias, folded, merged, constant, healed or open.

    A call without a tensor of its own is accounted for when every call that reads it is. One of
    the `suspects` has a tensor, which differs, and is open until it has a match.
    `outputs_good` gives the outputs of the model that agree; by default those with a match.
    """
    readers = recording.consumers()
    final: dict[int, list[bool]] = {}
    for place, port in enumerate(recording.outputs):
        agrees = port in matches if outputs_good is None else place in outputs_good
        final.setdefault(port.call, []).append(agrees)
    used = {port for call in recording.calls for port in call.inputs} | set(recording.outputs)
    kinds: dict[int, str] = {}
    for call in reversed(recording.calls):
        if call.id in healed:
            kinds[call.id] = "healed"
        elif call.passes:
            kinds[call.id] = "alias"
        elif _is_matched(call, matches, used):
            kinds[call.id] = "alias" if _repeats_an_input(call, recording) else "exact"
        else:
            followers = [kinds[reader] in GOOD for reader in readers[call.id]]
            known = followers + final.get(call.id, [])
            hidden = call.id not in suspects and all(known)
            kinds[call.id] = _without_tensor(call, recording) if hidden else "open"
    return dict(sorted(kinds.items()))


def _is_matched(call: Call, matches: Mapping[Port, Match], used: set[Port]) -> bool:
    own = [port for port in call.outputs if port.call == call.id]
    needed = [port for port in own if port in used]
    if not needed:
        return any(port in matches for port in own)
    return all(port in matches for port in needed)


def _without_tensor(call: Call, recording: Recording) -> str:
    import numpy as np

    value = recording.value(call.outputs[0])
    if is_number(value) and value.size and np.min(value) == np.max(value):
        return "constant"
    if _repeats_an_input(call, recording):
        return "alias"
    container = recording.container_of.get(call.within or 0)
    return "merged" if container and container[1] == "Bidirectional" else "folded"


def _repeats_an_input(call: Call, recording: Recording) -> bool:
    """Return whether a call's value is that of one of its inputs, up to the shape."""
    import numpy as np

    value = recording.value(call.outputs[0])
    for port in call.inputs:
        if recording.has(port):
            source = recording.value(port)
            if source.size == value.size and np.array_equal(source.ravel(), value.ravel()):
                return True
    return False


def _words(name: str) -> frozenset[str]:
    """Return the parts of a tensor's name, each also without trailing counters."""
    found = set()
    for part in _SPLIT.split(name):
        while part:
            found.add(part)
            shorter = _COUNTER.sub("", part)
            part = shorter if shorter != part else ""
    return frozenset(found)


def _places(size: int) -> Array:
    import numpy as np

    if size <= SAMPLES:
        return np.arange(size)
    return np.random.default_rng(size).integers(0, size, SAMPLES)


def _rms(array: Array) -> float:
    import numpy as np

    flat = array.reshape(-1).astype(np.float64)
    flat = flat[np.isfinite(flat)]
    return float(np.sqrt(np.dot(flat, flat) / flat.size)) if flat.size else 0.0
