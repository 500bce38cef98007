"""How the layers of a model are connected, through nested models and shared layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envcheck.localisation.recording.probe_paths import Part, is_container

__all__ = ["Wiring", "wiring_of"]


@dataclass
class Wiring:
    """The connections of a model; paths are those of its parts.

    `outputs` has for each output of the model the paths that give it. `known` is false where a
    model is written as code that Keras runs, not as a graph.
    """

    known: bool = True
    inputs: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    outputs: list[list[str]] = field(default_factory=list)

    def downstream(self) -> dict[str, list[str]]:
        """Return for each path those that take its output."""
        found: dict[str, list[str]] = {path: [] for path in self.inputs}
        for path, sources in self.inputs.items():
            for source in sources:
                if path not in found.setdefault(source, []):
                    found[source].append(path)
        return found

    def note(self, path: str, sources: Sequence[str]) -> list[str]:
        """Note one call of a part with what it is fed from; return what its output comes from."""
        known = self.inputs.setdefault(path, [])
        known += [source for source in sources if source not in known]
        self.calls[path] = self.calls.get(path, 0) + 1
        return [path]


def wiring_of(model: Any, parts: Sequence[Part]) -> Wiring:
    """Return the connections of a model."""
    paths = {id(part.layer): part.path for part in parts}
    wiring = Wiring()
    if not is_container(model):
        return Wiring(known=False)
    count = len(getattr(model, "inputs", None) or ()) or 1
    wiring.outputs = _wire(model, [[] for _ in range(count)], paths, wiring)
    return wiring


def _wire(
    model: Any, feeds: list[list[str]], paths: Mapping[int, str], wiring: Wiring
) -> list[list[str]]:
    """Connect what a model holds to what feeds it; return what each of its outputs comes from."""
    import keras

    if isinstance(model, keras.Sequential):
        current = [path for feed in feeds for path in feed]
        for layer in model.layers:
            current = _merged(_call(layer, [current], paths, wiring))
        return [current]
    made = _fed(model, feeds, paths, wiring)
    for node in _in_order(model):
        sources = [made.get(id(tensor), []) for tensor in node.input_tensors]
        results = _call(node.operation, sources, paths, wiring)
        for index, tensor in enumerate(node.outputs):
            made[id(tensor)] = results[index] if index < len(results) else results[-1]
    return [made.get(id(tensor), []) for tensor in model.outputs]


def _in_order(model: Any) -> Iterator[Any]:
    """Yield the calls in a functional model, what feeds a call before it."""
    depths = model._nodes_by_depth
    for depth in sorted(depths, reverse=True):
        yield from (node for node in depths[depth] if not node.is_input)


def _fed(
    model: Any, feeds: list[list[str]], paths: Mapping[int, str], wiring: Wiring
) -> dict[int, list[str]]:
    """Return for the input tensors of a functional model what they come from."""
    made: dict[int, list[str]] = {}
    for index, tensor in enumerate(model.inputs):
        feed = feeds[index] if index < len(feeds) else []
        layer = tensor._keras_history.operation
        path = paths.get(id(layer))
        made[id(tensor)] = feed if path is None else wiring.note(path, feed)
    return made


def _call(
    layer: Any, sources: list[list[str]], paths: Mapping[int, str], wiring: Wiring
) -> list[list[str]]:
    """Connect one call of a layer, or of what a nested model holds."""
    if is_container(layer):
        return _wire(layer, sources, paths, wiring) or [[]]
    path = paths.get(id(layer))
    if path is None:
        return [_merged(sources)]
    return [wiring.note(path, _merged(sources))]


def _merged(sources: list[list[str]]) -> list[str]:
    return list(dict.fromkeys(path for source in sources for path in source))
