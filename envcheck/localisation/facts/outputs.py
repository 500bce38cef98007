"""Facts about what a fit compares: each output with its loss, its activation and its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.questions import ask
from envcheck.localisation.facts.targets import canonical, misfits
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.facts.wiring import Wiring
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_outputs", "target_of"]

_ACCURACIES = frozenset(("accuracy", "acc", "binary_accuracy", "categorical_accuracy",
                         "sparse_categorical_accuracy"))  # fmt: skip


def add_outputs(
    graph: TrainingGraph, fit: Mapping[str, Any], place: str, wiring: Wiring | None
) -> None:
    """Assert the facts of every compiled output of a fit; `place` points at the fit."""
    losses = fit.get("losses") or ()
    if not losses and (fit.get("custom_train_step") or fit.get("custom_loss_method")):
        subject = f"output:{fit['id']}/0"
        graph.put(subject, "ofFit", f"fit:{fit['id']}", f"{place}/losses")
        _ask_about_loss(graph, subject, fit, {}, place, place)
    for index, loss in enumerate(losses):
        subject = f"output:{fit['id']}/{index}"
        source = f"{place}/losses/{index}"
        graph.put(subject, "ofFit", f"fit:{fit['id']}", source)
        name = canonical(loss.get("name"))
        graph.put(subject, "loss", f"loss:{name}", f"{source}/name")
        if loss.get("from_logits") is not None:
            graph.put_value(subject, "fromLogits", bool(loss["from_logits"]), source)
        _ask_about_loss(graph, subject, fit, loss, place, source)
        _add_output(graph, fit, index, name, place, wiring)


def _ask_about_loss(
    graph: TrainingGraph,
    subject: str,
    fit: Mapping[str, Any],
    loss: Mapping[str, Any],
    place: str,
    source: str,
) -> None:
    if loss.get("custom"):
        graph.put(subject, "lossOrigin", "ec:program", f"{source}/custom")
        ask(graph, subject, "loss", "the loss is a function of the program", f"{source}/name")
    for key, why in (
        ("custom_train_step", "a train step of the program computes the loss"),
        ("custom_loss_method", "a compute_loss method of the program computes the loss"),
    ):
        if fit.get(key):
            graph.put(subject, "lossOrigin", "ec:program", f"{place}/{key}")
            ask(graph, subject, "loss", why, f"{place}/{key}")


def _add_output(
    graph: TrainingGraph,
    fit: Mapping[str, Any],
    index: int,
    loss: str,
    place: str,
    wiring: Wiring | None,
) -> None:
    subject = f"output:{fit['id']}/{index}"
    at = _position(fit, index, wiring)
    if wiring is None or at is None:
        ask(graph, subject, "activation", "which layer makes this output is not known", place)
        return
    output = wiring.model["outputs"][at]
    source = f"{wiring.place}/outputs/{at}"
    activation, producer = wiring.output_activation(at)
    if activation is None or activation.startswith("custom"):
        why = "what the last layer does to its values is not known"
        ask(graph, subject, "activation", why, f"{source}/activation")
    else:
        graph.put(subject, "outputActivation", f"activation:{activation}", f"{source}/activation")
    if producer is not None:
        graph.put(subject, "producer", wiring.node(producer), source)
        graph.put_value(subject, "layer", producer, source)
    shape = output.get("shape")
    units = shape[-1] if isinstance(shape, list) and shape else None
    if isinstance(units, int):
        graph.put_value(subject, "units", units, f"{source}/shape")
    _add_labels(graph, subject, fit, index, (loss, activation or "", units, shape), place)


def _position(fit: Mapping[str, Any], index: int, wiring: Wiring | None) -> int | None:
    """Return which output of the model a compiled output is, or None."""
    outputs = (wiring.model.get("outputs") if wiring else None) or ()
    losses = fit.get("losses") or ()
    name = losses[index].get("output")
    for position, output in enumerate(outputs):
        if name is not None and name in (output.get("name"), output.get("layer")):
            return position
    return index if len(outputs) == len(losses) else None


def target_of(fit: Mapping[str, Any], index: int) -> tuple[int, Mapping[str, Any]] | None:
    """Return the position of the targets of a compiled output, and what they are like."""
    targets = (fit.get("data") or {}).get("targets") or ()
    losses = fit.get("losses") or ()
    name = losses[index].get("output")
    for position, target in enumerate(targets):
        if name is not None and target.get("name") == name:
            return position, target
    return (index, targets[index]) if len(targets) == len(losses) else None


def _add_labels(
    graph: TrainingGraph,
    subject: str,
    fit: Mapping[str, Any],
    index: int,
    output: tuple[str, str, Any, Any],
    place: str,
) -> None:
    loss, activation, units, shape = output
    found = target_of(fit, index)
    if found is None:
        ask(graph, subject, "labels", "the labels of this output were not seen", f"{place}/data")
        return
    at, target = found
    source = f"{place}/data/targets/{at}"
    graph.put(subject, "target", f"target:{fit['id']}/{at}", source)
    kind = target.get("kind")
    if kind in (None, "unknown"):
        ask(graph, subject, "labels", "what kind of labels these are is not known", source)
        return
    graph.put(subject, "labelKind", f"ec:{kind}", f"{source}/kind")
    _describe(graph, subject, target, source)
    rank = len(shape) - 1 if isinstance(shape, list) else None
    width = units if isinstance(units, int) else None
    sources = (source, f"{place}/losses/{index}/name")
    for word in misfits(loss, target, width, rank, activation):
        graph.put(subject, "labelMisfit", f"ec:{word}", *sources)
    if isinstance(shape, list):
        graph.put_value(subject, "outputShape", tuple(shape[1:]) or ("scalar",), source)
    if _watches_accuracy(fit, index):
        graph.put(subject, "watched", "ec:accuracy", f"{place}/metrics")


def _watches_accuracy(fit: Mapping[str, Any], index: int) -> bool:
    """Tell whether an accuracy of this output is watched; of several outputs its own."""
    if not _ACCURACIES.intersection(fit.get("metrics") or ()):
        return False
    losses = fit.get("losses") or ()
    if len(losses) < 2:
        return True
    name = f"{losses[index].get('output')}_"
    epochs = (fit.get("curves") or {}).get("epoch") or {}
    return any(key.startswith(name) and key[len(name) :] in _ACCURACIES for key in epochs)


def _describe(graph: TrainingGraph, subject: str, target: Mapping[str, Any], source: str) -> None:
    low, high = number(target.get("min")), number(target.get("max"))
    if low is not None and high is not None:
        graph.put_value(subject, "labelRange", f"{low:.4g} to {high:.4g}", f"{source}/min")
    classes = target.get("classes")
    if isinstance(classes, int):
        graph.put_value(subject, "classes", classes, f"{source}/classes")
    if high is not None and isinstance(classes, int):
        graph.put_value(subject, "unitsNeeded", int(high) + 1, f"{source}/max")
    if isinstance(target.get("width"), int):
        graph.put_value(subject, "labelWidth", target["width"], f"{source}/width")
    if target.get("equals_input"):
        graph.put_value(subject, "reconstructs", True, f"{source}/equals_input")
