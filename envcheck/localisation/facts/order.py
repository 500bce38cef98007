"""Facts about the order and the sizes of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.layer_kinds import CONVOLUTIONS, LINEAR, kind_of

if TYPE_CHECKING:
    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_order"]

_EIGHTH = 8
_MARGIN = 2
"""A kernel of 3 on a map of 1 is what deep networks do with small images."""
_DROPOUTS = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")


def add_order(graph: TrainingGraph, wiring: Wiring) -> None:
    """Assert layers that stand in the wrong place or have an unlikely size."""
    for path, layer in wiring.layers.items():
        if layer.get("module") != "keras":
            continue
        _add_window(graph, wiring, path)
        if wiring.known:
            _add_dropout(graph, wiring, path)
            _add_bias(graph, wiring, path)
            _add_width(graph, wiring, path)


def _add_window(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    """Assert that a kernel or pool is by far larger than the map it works on."""
    layer, source = wiring.layers[path], wiring.pointers[path]
    sizes = layer.get("kernel_size") or layer.get("pool_size")
    shape = layer.get("input_shape")
    if not isinstance(sizes, list) or not isinstance(shape, list):
        return
    first = layer.get("data_format") == "channels_first"
    spatial: list[Any] = shape[2:] if first else shape[1:-1]
    if len(spatial) != len(sizes) or str(layer.get("class")).endswith("Transpose"):
        return
    pairs = [(size, room) for size, room in zip(sizes, spatial, strict=True)
             if isinstance(size, int) and isinstance(room, int)]  # fmt: skip
    if any(size > room + _MARGIN for size, room in pairs):
        key = "kernel_size" if layer.get("kernel_size") else "pool_size"
        sources = (f"{source}/{key}", f"{source}/input_shape")
        graph.put_value(wiring.node(path), "window", tuple(sizes), *sources)
        graph.put_value(wiring.node(path), "map", tuple(spatial), *sources)


def _add_dropout(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    layer, source = wiring.layers[path], wiring.pointers[path]
    if layer.get("class") not in _DROPOUTS or not layer.get("rate"):
        return
    if path in wiring.outputs:
        graph.put(wiring.node(path), "drops", "ec:output", source)
        return
    before: list[Any] = layer.get("inputs") or []
    above = wiring.layers.get(str(before[0])) if len(before) == 1 else None
    if above is None or above.get("class") not in CONVOLUTIONS:
        return
    following = wiring.layers[path].get("outputs") or ()
    names = {str(wiring.layers.get(str(item), {}).get("class")) for item in following}
    if names == {"BatchNormalization"}:
        graph.put(wiring.node(path), "drops", "ec:beforeNormalisation", source)


def _add_bias(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    """Assert a bias that the batch normalisation right after it takes out again."""
    layer = wiring.layers[path]
    if kind_of(layer) != "linear" or layer.get("use_bias") is not True:
        return
    following = layer.get("outputs") or ()
    names = {str(wiring.layers.get(str(item), {}).get("class")) for item in following}
    if names == {"BatchNormalization"}:
        source = f"{wiring.pointers[path]}/use_bias"
        graph.put_value(wiring.node(path), "uselessBias", True, source)


def _add_width(graph: TrainingGraph, wiring: Wiring, path: str) -> None:
    """Assert a hidden layer that is far narrower than what comes before and after it."""
    layer = wiring.layers[path]
    if layer.get("class") != "Dense":
        return
    route = wiring.after(path)
    if route.end == "activation":
        route = wiring.after(route.target)
    following = wiring.layers.get(route.target)
    if following is None or following.get("class") not in LINEAR:
        return
    width, after = layer.get("units"), following.get("units")
    before = (layer.get("input_shape") or [None])[-1]
    if not isinstance(width, int) or not isinstance(before, int) or not isinstance(after, int):
        return
    source = wiring.pointers[path]
    sources = (f"{source}/units", f"{source}/input_shape", f"{wiring.pointers[route.target]}/units")
    is_last = route.target in wiring.outputs or wiring.after(route.target).end in (
        "nothing", "activation",
    )  # fmt: skip
    if width * _EIGHTH <= min(before, after) or (is_last and 1 <= width <= 2 < after):
        graph.put(wiring.node(path), "squeezes", "ec:hidden", *sources)
        graph.put_value(wiring.node(path), "widthBefore", before, *sources)
        graph.put_value(wiring.node(path), "widthAfter", after, *sources)
