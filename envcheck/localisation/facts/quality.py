"""How well a fit went, as far as its curves allow to judge it.

The words build on one another: `ec:weak` (no better than half of what guessing loses) implies
`ec:imperfect`. A fit is not judged where its loss says nothing about its success: players of a
game, losses of the program, a run cut short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.questions import ask
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["add_quality"]

_SETTLED = 0.02
"""Share of its level that a settled loss loses over the last fifth of a fit at most."""
_OVERFITS = 0.1
_WORDS = {"none": ("weak", "imperfect"), "poor": ("weak", "imperfect"),
          "middling": ("imperfect",), "good": ("fine",)}  # fmt: skip


def add_quality(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert the quality of every fit, or why it is not judged."""
    game = _players(graph)
    for index, fit in enumerate(graph.log.fits):
        subject, place = f"fit:{fit['id']}", f"fits/{index}"
        why = _obstacle(graph, fit, game)
        told = signals[fit["id"]].performance if fit["id"] in signals else "undetermined"
        if told != "good" and _is_penalised(graph, fit):
            told = _by_accuracy(fit, signals[fit["id"]].accuracy)
            why = why or ("" if told else "penalties of weights are part of the loss")
        words = _WORDS.get(told, ())
        if _has_broken_weights(fit) or _is_nonfinite(signals.get(fit["id"])):
            graph.put(subject, "numbers", "ec:broken", f"{place}/probes", f"{place}/curves")
        if fit["id"] in signals:
            _add_ends(graph, subject, signals[fit["id"]], f"{place}/curves")
        if not why and words:
            for word in words:
                graph.put(subject, "quality", f"ec:{word}", f"{place}/curves")
            continue
        if fit["id"] in game:
            graph.put(subject, "quality", "ec:game", f"{place}/model")
        graph.put(subject, "quality", "ec:undetermined", f"{place}/curves")
        reason = why or "what guessing would lose is not known, so the loss cannot be judged"
        ask(graph, subject, "quality", reason, f"{place}/curves")


def _is_nonfinite(signals: Signals | None) -> bool:
    return signals is not None and signals.curve == "nonfinite"


def _has_broken_weights(fit: Mapping[str, Any]) -> bool:
    """Tell whether weights became NaN or infinite: relu may hide it from the loss."""
    return any(
        number(weight.get("nonfinite_share"))
        for probe in fit.get("probes") or ()
        for weight in probe.get("weights") or ()
    )


def _is_penalised(graph: TrainingGraph, fit: Mapping[str, Any]) -> bool:
    """Tell whether a loss holds penalties, which say nothing about how well the model does."""
    layers = (graph.log.model(str(fit.get("model"))) or {}).get("layers") or ()
    keys = ("kernel_regulariser", "bias_regulariser", "activity_regulariser")
    return any(layer.get(key) for layer in layers for key in keys)


def _by_accuracy(fit: Mapping[str, Any], accuracy: float | None) -> str:
    """Return the performance by the share of errors, in units of naming the largest class."""
    targets: list[Any] = (fit.get("data") or {}).get("targets") or []
    counts = targets[0].get("class_counts") if len(targets) == 1 else None
    if accuracy is None or not counts or max(counts) == sum(counts):
        return ""
    share = (1 - accuracy) / (1 - max(counts) / sum(counts))
    bounds = ((0.1, "good"), (0.5, "middling"), (0.97, "poor"))
    return next((word for bound, word in bounds if share < bound), "none")


def _obstacle(graph: TrainingGraph, fit: Mapping[str, Any], game: set[str]) -> str:
    if fit["id"] in game:
        return "several models are trained against each other"
    if fit.get("custom_train_step"):
        return "a train step of the program computes the loss"
    if fit.get("class_weight") or fit.get("sample_weight"):
        return "weights of classes or rows change the loss"
    if not fit.get("completed") and graph.log.program.get("interrupted"):
        return "the run was cut short"
    return "" if fit.get("steps") else "no training step was done"


def _players(graph: TrainingGraph) -> set[str]:
    """Return the fits of models that take turns, batch by batch, or that share their layers."""
    single = [fit for fit in graph.log.fits if fit.get("method") == "train_on_batch"]
    if len({fit.get("model") for fit in single}) < 2:
        return set()
    return {fit["id"] for fit in single}


def _add_ends(graph: TrainingGraph, subject: str, signals: Signals, source: str) -> None:
    """Assert whether the loss had settled, and whether validation lags behind training."""
    if signals.tail_drop is None:
        why = "the curve is too short to tell whether the loss was still falling"
        ask(graph, subject, "tail", why, source)
    elif abs(signals.tail_drop) <= _SETTLED:
        graph.put_value(subject, "settled", True, source)
    here, there = signals.train_level, signals.validation_level
    if here is not None and there is not None and there - here > _OVERFITS:
        graph.put_value(subject, "overfits", True, source)
