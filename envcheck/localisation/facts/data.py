"""Facts about the arrays that a fit was given: their scale, their labels, their split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.layer_kinds import (
    LINEAR,
    NORMALISATIONS,
    PREPROCESSING,
    RECURRENT,
    kind_of,
)
from envcheck.localisation.facts.questions import ask
from envcheck.localisation.facts.split import add_split
from envcheck.localisation.facts.wiring import wirings
from envcheck.localisation.training_log import number, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["add"]

_LOOKS = {"image": "image", "tabular": "tabular", "tokens": "tokens", "one-hot": "oneHot",
          "sequence": "sequence"}  # fmt: skip
_SCALED_TWICE = 1.01 / 255
_CHANNELS = (1, 3, 4)


def add(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert what the data of every fit are like."""
    del signals
    models = wirings(graph.log)
    for index, fit in enumerate(graph.log.fits):
        place = f"fits/{index}"
        data = fit.get("data") or {}
        subject = f"fit:{fit['id']}"
        wiring = models.get(str(fit.get("model")))
        rows = data.get("rows")
        if isinstance(rows, int):
            graph.put_value(subject, "rows", rows, f"{place}/data/rows")
        elif data:
            ask(graph, subject, "rows", "how many rows there are is not known", f"{place}/data")
        for number_, array in enumerate(data.get("inputs") or ()):
            _add_input(graph, fit, number_, array, place, wiring)
        for number_, array in enumerate(data.get("targets") or ()):
            _add_target(graph, fit, number_, array, place)
        add_split(graph, fit, place)


def _add_input(
    graph: TrainingGraph,
    fit: Mapping[str, Any],
    index: int,
    array: Mapping[str, Any],
    place: str,
    wiring: Wiring | None,
) -> None:
    subject, source = f"input:{fit['id']}/{index}", f"{place}/data/inputs/{index}"
    graph.put(subject, "ofFit", f"fit:{fit['id']}", source)
    looks = _LOOKS.get(str(array.get("looks")), "undetermined")
    graph.put(subject, "looks", f"ec:{looks}", f"{source}/looks")
    _add_scale(graph, subject, array, source)
    _add_quality(graph, subject, array, source)
    _add_form(graph, subject, array, source, wiring)
    _add_entries(graph, subject, array, index, source, wiring)


def _add_scale(graph: TrainingGraph, subject: str, array: Mapping[str, Any], source: str) -> None:
    low, high = number(array.get("min")), number(array.get("max"))
    if low is None or high is None:
        ask(graph, subject, "scale", "the values of this input were not seen", source)
        return
    graph.put_value(subject, "range", f"{low:.4g} to {high:.4g}", f"{source}/min", f"{source}/max")
    share = number(array.get("max_abs_over_10_share"))
    if share is not None:
        graph.put_value(subject, "largeShare", share, f"{source}/max_abs_over_10_share")
    ratio = number(array.get("feature_std_ratio"))
    if ratio is not None:
        graph.put_value(subject, "spreadRatio", ratio, f"{source}/feature_std_ratio")
    if low >= 0 and 0 < high <= _SCALED_TWICE and not array.get("integer"):
        graph.put_value(subject, "scaledTwice", True, f"{source}/max")


def _add_quality(graph: TrainingGraph, subject: str, array: Mapping[str, Any], source: str) -> None:
    missing = number(array.get("nan_share")) or 0.0
    infinite = number(array.get("inf_share")) or 0.0
    if missing + infinite > 0:
        sources = (f"{source}/nan_share", f"{source}/inf_share")
        graph.put_value(subject, "brokenShare", _short(missing + infinite), *sources)
    constant, features = array.get("constant_features"), array.get("features")
    if isinstance(constant, int) and isinstance(features, int) and constant:
        graph.put_value(subject, "constantFeatures", constant, f"{source}/constant_features")
        graph.put_value(subject, "features", features, f"{source}/features")


def _short(share: float) -> float:
    """Return a share with three digits that count, for people."""
    return float(f"{share:.3g}")


def _add_form(
    graph: TrainingGraph,
    subject: str,
    array: Mapping[str, Any],
    source: str,
    wiring: Wiring | None,
) -> None:
    """Assert that images have their channels at another axis than the convolutions expect."""
    shape = array.get("shape")
    if not isinstance(shape, list) or len(shape) != 3 or wiring is None:
        return
    front = [size for size in shape[:1] if size in _CHANNELS]
    convolutions = [
        layer
        for layer in wiring.layers.values()
        if str(layer.get("class")) in ("Conv2D", "SeparableConv2D", "DepthwiseConv2D")
    ]
    last = {layer.get("data_format") for layer in convolutions} == {"channels_last"}
    turned = {"Permute", "Lambda"} & {str(item.get("class")) for item in wiring.layers.values()}
    foreign = any(item.get("module") != "keras" for item in wiring.layers.values())
    if turned or foreign:
        return
    if front and last and shape[-1] not in _CHANNELS and shape[1] == shape[2]:
        graph.put(subject, "form", "ec:channelsFirst", f"{source}/shape")
        graph.put_value(subject, "shape", tuple(shape), f"{source}/shape")


def _add_entries(
    graph: TrainingGraph,
    subject: str,
    array: Mapping[str, Any],
    index: int,
    source: str,
    wiring: Wiring | None,
) -> None:
    """Assert what a model does first with an input."""
    if wiring is None or not wiring.layers or not wiring.known:
        why = "what the model does first with this input is not known"
        ask(graph, subject, "entry", why, source)
        graph.put(subject, "enters", "ec:undetermined", source)
        return
    name = array.get("name")
    for path in wiring.entries(str(name) if name else None, index):
        _add_vocabulary(graph, subject, array, source, wiring, path)
        word = _entry(wiring, path)
        graph.put(subject, "enters", f"ec:{word}", wiring.pointers[path])
        if word == "undetermined":
            layer = wiring.layers[path].get("class")
            why = f"what the layer {path} ({layer}) does with this input is not known"
            ask(graph, subject, "entry", why, wiring.pointers[path])


def _add_vocabulary(
    graph: TrainingGraph,
    subject: str,
    array: Mapping[str, Any],
    source: str,
    wiring: Wiring,
    path: str,
) -> None:
    """Assert that an input holds numbers that an embedding has no row for."""
    layer, high = wiring.layers[path], number(array.get("max"))
    weights = layer.get("weights") or ()
    shape = weights[0].get("shape") if layer.get("class") == "Embedding" and weights else None
    if high is None or not isinstance(shape, list) or not isinstance(shape[0], int):
        return
    if high >= shape[0] and array.get("integer"):
        sources = (f"{source}/max", f"{wiring.pointers[path]}/weights/0/shape")
        graph.put(subject, "exceeds", wiring.node(path), *sources)
        graph.put_value(subject, "largestId", int(high), f"{source}/max")
        graph.put_value(subject, "vocabulary", shape[0], *sources)


def _entry(wiring: Wiring, path: str) -> str:
    layer = wiring.layers[path]
    name = str(layer.get("class"))
    if layer.get("pretrained"):
        return "pretrained"
    if layer.get("module") != "keras":
        return "undetermined"
    if name in NORMALISATIONS or name in PREPROCESSING:
        return "normalisation"
    if name == "Embedding":
        return "embedding"
    following = wiring.after(path)
    passed = {str(wiring.layers[item].get("class")) for item in following.passed}
    passed.add(str(wiring.layers.get(following.target, {}).get("class")))
    if passed & NORMALISATIONS and kind_of(layer) != "active":
        return "normalisation"
    return "plain" if name in RECURRENT or name in LINEAR else "undetermined"


def _add_target(
    graph: TrainingGraph, fit: Mapping[str, Any], index: int, array: Mapping[str, Any], place: str
) -> None:
    subject, source = f"target:{fit['id']}/{index}", f"{place}/data/targets/{index}"
    graph.put(subject, "ofFit", f"fit:{fit['id']}", source)
    graph.put(subject, "labelKind", f"ec:{array.get('kind') or 'unknown'}", f"{source}/kind")
    if array.get("equals_input"):
        graph.put_value(subject, "reconstructs", True, f"{source}/equals_input")
    missing = number(array.get("nan_share"))
    if missing:
        graph.put_value(subject, "brokenShare", _short(missing), f"{source}/nan_share")
    balance = _balance(array)
    if balance is not None:
        graph.put_value(subject, "balance", balance, f"{source}/perplexity_share")
    _add_counts(graph, subject, array, source)


def _balance(array: Mapping[str, Any]) -> float | None:
    """Return how evenly labels spread over their classes: 0 for one class, 1 for equal shares.

    That is (exp H − 1) / (C − 1) for the label entropy H and the C classes that occur: unlike
    the perplexity share exp H / C it reaches 0 also with two classes.
    """
    share = number(array.get("perplexity_share"))
    classes = sum(count > 0 for count in numbers(array.get("class_counts")))
    if share is None or classes < 2:
        return None
    return round((share * classes - 1) / (classes - 1), 6)


def _add_counts(graph: TrainingGraph, subject: str, array: Mapping[str, Any], source: str) -> None:
    counts = [item for item in array.get("class_counts") or () if isinstance(item, int)]
    if not counts or array.get("kind") not in ("class-ids", "binary", "one-hot"):
        return
    present = [item for item in counts if item > 0]
    if len(present) < 2:
        return
    sources = f"{source}/class_counts"
    graph.put_value(subject, "rowsPerClass", sum(present) // len(present), sources)
    graph.put_value(subject, "largestClass", round(max(present) / sum(present), 6), sources)
