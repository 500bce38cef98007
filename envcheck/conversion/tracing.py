"""One comparison in progress: the recording, the candidate's values, what is aligned so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import GOOD, Aligner, Match, classify
from envcheck.conversion.arrays import relative_error
from envcheck.conversion.calls import INPUT, Call, Port, Recording
from envcheck.conversion.sketches import Index
from envcheck.conversion.suspects import suspects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.graphs import Injection
    from envcheck.conversion.runtimes.protocol import Candidate
    from envcheck.conversion.stores import Store

__all__ = ["Comparison"]


@dataclass(kw_only=True)
class Comparison:
    """Both sides of one run on the same inputs.

    `input_matches` are the candidate's inputs by port; `outputs` the names of the candidate's
    outputs in the order of the reference's. `overlay` holds values that injections changed.
    """

    recording: Recording
    candidate: Candidate
    store: Store
    feeds: Mapping[str, Array]
    outputs: tuple[str, ...]
    tolerance: Callable[[Port], float]
    input_matches: dict[Port, Match] = field(default_factory=dict)
    matches: dict[Port, Match] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)
    overlay: dict[str, Array] = field(default_factory=dict)
    injections: list[Injection] = field(default_factory=list)
    healed: set[int] = field(default_factory=set)
    runs: int = 0
    suspects: frozenset[int] = frozenset()
    failing: list[int] = field(default_factory=list)
    """Nodes of the candidate that fail on values that they have, in execution order."""

    def __post_init__(self) -> None:
        """Prepare the index of the candidate's tensors."""
        self.tensors = {tensor.name: tensor for tensor in self.candidate.tensors()}
        recorded = [p for call in self.recording.calls for p in call.outputs]
        sizes = {self.recording.value(port).size for port in recorded}
        held = ((name, self.store.get(name)) for name in self.tensors if name in self.store)
        self.index = Index((name, value) for name, value in held if value.size in sizes)
        self.aligner = Aligner(self.recording, self.tensors, self.tolerance)
        self.readers = self.recording.consumers()
        self.calls: dict[int, Call] = {call.id: call for call in self.recording.calls}

    def value(self, name: str) -> Array:
        """Return the candidate's value of a tensor, under the injections so far."""
        return self.overlay[name] if name in self.overlay else self.store.get(name)

    def has(self, name: str) -> bool:
        """Return whether a tensor has a value."""
        return name in self.overlay or name in self.store

    def align(self) -> None:
        """Match every recorded value and classify every call."""
        ports = [p for call in self.recording.calls for p in call.outputs if p.call == call.id]
        self.matches = dict(self.input_matches)
        self.matches.update(self.aligner.align(ports, self.index, self.value))
        self.suspects = suspects(self)
        self.refresh()

    def refresh(self) -> None:
        """Classify every call anew."""
        self.kinds = self.classified(self.matches, frozenset(self.healed), self.value)

    def classified(
        self,
        matches: Mapping[Port, Match],
        healed: frozenset[int],
        value: Callable[[str], Array],
    ) -> dict[int, str]:
        """Return the kinds of all calls under other matches or values.

        A layer that makes an output of the model is open while that output differs, though
        another tensor before it may hold the layer's values.
        """
        good = {place for place in range(len(self.outputs)) if self.output_agrees(place, value)}
        bad = {port for place, port in enumerate(self.recording.outputs) if place not in good}
        kept = {port: match for port, match in matches.items() if port not in bad}
        return classify(
            self.recording,
            kept,
            healed=healed,
            suspects=self.suspects,
            outputs_good=frozenset(good),
        )

    def output_agrees(self, place: int, value: Callable[[str], Array]) -> bool:
        """Return whether an output of the model is within tolerance."""
        port, name = self.recording.outputs[place], self.outputs[place]
        try:
            seen = value(name)
        except KeyError:
            return False
        wanted = self.recording.value(port)
        if seen.dtype.kind in "OSU" or wanted.dtype.kind in "OSU":
            return bool(seen.shape == wanted.shape and (seen == wanted).all())
        if seen.size != wanted.size:
            return False
        return relative_error(seen.reshape(wanted.shape), wanted) <= self.tolerance(port)

    def frontier(self, *, skip: set[int]) -> list[Call]:
        """Return the open calls all of whose sources are accounted for, in order."""
        return [
            call
            for call in self.recording.calls
            if self.kinds[call.id] == "open"
            and call.id not in skip
            and all(self._source_good(port.call) for port in call.inputs)
        ]

    def _source_good(self, source: int) -> bool:
        return source == INPUT or self.kinds.get(source, "open") in GOOD

    def starts(self, call: Call) -> list[str]:
        """Return the tensors that hold the inputs of a call, or the nearest before them."""
        found: dict[str, None] = {}
        queue, seen = list(call.inputs), set(call.inputs)
        while queue:
            port = queue.pop(0)
            match = self.matches.get(port)
            if match is not None:
                found[match.tensor] = None
                continue
            source = self.calls.get(port.call)
            for before in source.inputs if source else ():
                if before not in seen:
                    seen.add(before)
                    queue.append(before)
        return list(found) or [item.name for item in self.candidate.inputs]

    def downstream(self, call: int) -> list[int]:
        """Return the calls that depend on a call, in order."""
        seen: set[int] = set()
        queue = [call]
        while queue:
            for reader in self.readers.get(queue.pop(), []):
                if reader not in seen:
                    seen.add(reader)
                    queue.append(reader)
        return sorted(seen)
