"""Walks over the layers of a recorded model: what follows what, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.layer_kinds import LINEAR, activation_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envcheck.localisation.training_log import TrainingLog

__all__ = ["Route", "Wiring", "wirings"]


@dataclass(frozen=True)
class Route:
    """What a signal meets after a layer, up to the first thing that is not transparent.

    `end` is a kind of `layer_kinds.kind_of`, or nothing (the model ends there), branches
    (several layers take the signal) or unknown; `target` is the path of the layer it ends at.
    """

    end: str
    target: str = ""
    passed: tuple[str, ...] = ()
    """Paths of the layers in between."""
    maximum: bool = False
    """Whether a max-pool lies in between."""


class Wiring:
    """The layer graph of one model."""

    def __init__(self, model: Mapping[str, Any], place: str) -> None:
        self.model = model
        self.id = str(model.get("id"))
        self.place = place
        """JSON pointer of the model."""
        layers = [item for item in model.get("layers") or () if isinstance(item, dict)]
        self.layers: dict[str, Mapping[str, Any]] = {str(item["path"]): item for item in layers}
        self.pointers = {str(item["path"]): f"{place}/layers/{n}" for n, item in enumerate(layers)}
        self.known = bool(model.get("graph_known")) and all(
            item.get("inputs") is not None and item.get("outputs") is not None for item in layers
        )

    def is_inside(self, path: str) -> bool:
        """Tell whether a layer belongs to a layer of the program, which calls it as it likes."""
        steps = path.split("/")
        return any("/".join(steps[:count]) in self.layers for count in range(1, len(steps)))

    def node(self, path: str) -> str:
        """Return the subject of a layer."""
        return f"layer:{self.id}/{path}"

    @property
    def outputs(self) -> list[str]:
        """Return the paths of the layers that produce the outputs."""
        named = [str(item.get("layer")) for item in self.model.get("outputs") or ()]
        found = [path for path in named if path in self.layers]
        if found or not self.known:
            return found
        return [path for path, layer in self.layers.items() if not layer.get("outputs")]

    def _next(self, path: str) -> list[str]:
        following = self.layers[path].get("outputs") or ()
        return [str(item) for item in following if item in self.layers]

    def _before(self, path: str) -> list[str]:
        previous = self.layers[path].get("inputs") or ()
        return [str(item) for item in previous if item in self.layers]

    def after(self, path: str) -> Route:
        """Follow the signal of a layer forward through transparent layers."""
        passed: list[str] = []
        maximum = False
        while self.known:
            following = self._next(path)
            if len(following) != 1:
                return Route("branches" if following else "nothing", "", tuple(passed), maximum)
            path = following[0]
            kind = kind_of(self.layers[path])
            if self.layers[path].get("shared", 1) not in (0, 1):
                return Route("branches", path, tuple(passed), maximum)
            if kind not in ("transparent", "maximum"):
                return Route(kind, path, tuple(passed), maximum)
            if path in passed:
                break
            maximum = maximum or kind == "maximum"
            passed.append(path)
        return Route("unknown", "", tuple(passed), maximum)

    def behind(self, path: str) -> str | None:
        """Return the layer whose signal a layer hands on, seen through transparent ones."""
        seen: set[str] = set()
        while kind_of(self.layers[path]) == "transparent" and path not in seen:
            seen.add(path)
            previous = self._before(path)
            if len(previous) != 1:
                return None
            path = previous[0]
        return path

    def output_activation(self, index: int) -> tuple[str | None, str | None]:
        """Return the activation of an output and the path of the layer that applies it.

        The activation is None where it is not known.
        """
        outputs = self.model.get("outputs") or ()
        output = outputs[index] if index < len(outputs) else {}
        path = output.get("layer")
        told = output.get("activation")
        if path not in self.layers:
            return told, None
        last = self.behind(str(path)) if self.known else str(path)
        producer = last if last is not None else str(path)
        if told is None and last is not None:
            told = self._applied(last)
        return told, producer

    def _applied(self, path: str) -> str | None:
        layer = self.layers[path]
        kind = kind_of(layer)
        if kind == "linear":
            return "linear"
        return activation_of(layer) if kind in ("active", "activation") else None

    def entries(self, name: str | None, index: int) -> Iterator[str]:
        """Yield the paths of the first layers that change an input, in no certain order."""
        starts = self._starts(name, index)
        seen: set[str] = set()
        while starts:
            path = starts.pop()
            if path in seen:
                continue
            seen.add(path)
            layer = self.layers[path]
            if layer.get("class") in _CARRIERS or str(layer.get("class")).startswith("Random"):
                starts += self._next(path)
            else:
                yield path

    def _starts(self, name: str | None, index: int) -> list[str]:
        entries = [
            path
            for path, layer in self.layers.items()
            if not layer.get("inputs") and not self.is_inside(path)
        ]
        inputs = self.model.get("inputs") or ()
        wanted = {name, inputs[index].get("name") if index < len(inputs) else None}
        named = [path for path in entries if path in wanted]
        return named or (entries if len(inputs) <= 1 else [])

    def parameterised(self) -> list[str]:
        """Return the layers that map linearly with weights, in the order of the model."""
        return [
            path
            for path, layer in self.layers.items()
            if layer.get("class") in LINEAR
            and layer.get("module") == "keras"
            and not self.is_inside(path)
        ]


_CARRIERS = frozenset((
    "InputLayer", "Reshape", "Flatten", "Permute", "Dropout", "GaussianNoise", "Masking",
    "Concatenate", "Resizing", "CenterCrop", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D",
    "Cropping1D", "Cropping2D", "Cropping3D", "SpatialDropout1D", "RepeatVector", "Identity",
    "MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D",
))  # fmt: skip
"""Layers that hand values on at the scale they came in."""


def wirings(log: TrainingLog) -> dict[str, Wiring]:
    """Return the layer graphs of a log by the id of the model."""
    return {
        str(model["id"]): Wiring(model, f"models/{index}") for index, model in enumerate(log.models)
    }
