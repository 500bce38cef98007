"""Facts about how a fit was set up and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.facts.failures import add_failure
from envcheck.localisation.facts.outputs import add_outputs
from envcheck.localisation.facts.quality import add_quality
from envcheck.localisation.facts.questions import ask
from envcheck.localisation.facts.rates import add_rates
from envcheck.localisation.facts.wiring import wirings
from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["CLASSIFIERS", "add"]

CLASSIFIERS = "ec:classifiers"
"""The classifiers that four of FL4Deep's own rules ask."""

_COUNTS = (("epochs_asked", "epochsAsked"), ("batch_size", "batchSize"))
_YES = (
    ("stopped_early", "stoppedEarly"),
    ("completed", "completed"),
    ("class_weight", "weightsClasses"),
    ("sample_weight", "weightsRows"),
)
_RARE = frozenset(("auc", "precision", "recall", "f1_score", "fbeta_score", "true_positives",
                   "false_negatives", "false_positives", "precision_at_recall",
                   "recall_at_precision", "sensitivity_at_specificity", "mean_io_u",
                   "specificity_at_sensitivity", "io_u", "binary_io_u"))  # fmt: skip
"""Metrics that a program watches only if it knows that one class is rare."""


def add(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert the facts of every fit, and how the script ended."""
    models = wirings(graph.log)
    for index, fit in enumerate(graph.log.fits):
        place, subject = f"fits/{index}", f"fit:{fit['id']}"
        add_outputs(graph, fit, place, models.get(str(fit.get("model"))))
        _add_setup(graph, subject, fit, place)
        _add_optimiser(graph, subject, fit, place)
        add_rates(graph, subject, fit, place)
        _add_gradients(graph, fit, place)
    graph.put_value(CLASSIFIERS, "openQuestion", "no verdict of trained classifiers is at hand")
    add_quality(graph, signals)
    add_failure(graph)


def _add_setup(graph: TrainingGraph, subject: str, fit: Mapping[str, Any], place: str) -> None:
    for key, word in _COUNTS:
        if isinstance(fit.get(key), int):
            graph.put_value(subject, word, fit[key], f"{place}/{key}")
    for key, word in _YES:
        if fit.get(key):
            graph.put_value(subject, word, True, f"{place}/{key}")
    if fit.get("initial_epoch"):
        graph.put_value(subject, "resumed", True, f"{place}/initial_epoch")
    before = graph.log.fits[: int(place.rpartition("/")[2])]
    if any(other.get("model") == fit.get("model") and other.get("steps") for other in before):
        graph.put_value(subject, "resumed", True, f"{place}/model")
    names = {str(name) for name in fit.get("callbacks") or ()}
    for name in sorted(names):
        graph.put(subject, "callback", f"callback:{name}", f"{place}/callbacks")
    metrics = [str(name) for name in fit.get("metrics") or ()]
    if _RARE.intersection(metrics):
        graph.put(subject, "watches", "ec:rareClasses", f"{place}/metrics")
    _add_steps(graph, subject, fit, place)


def _add_steps(graph: TrainingGraph, subject: str, fit: Mapping[str, Any], place: str) -> None:
    """Assert how the batch relates to the rows."""
    rows, batch = (fit.get("data") or {}).get("rows"), fit.get("batch_size")
    if isinstance(rows, int) and isinstance(batch, int) and rows:
        share = round(min(batch / rows, 1.0), 6)
        graph.put_value(subject, "batchShare", share, f"{place}/batch_size", f"{place}/data/rows")
    weights = (graph.log.model(str(fit.get("model"))) or {}).get("trainable_parameters")
    if isinstance(rows, int) and isinstance(weights, int) and rows:
        graph.put_value(subject, "capacity", round(weights / rows, 1), f"{place}/data/rows")


def _add_optimiser(graph: TrainingGraph, subject: str, fit: Mapping[str, Any], place: str) -> None:
    optimiser, source = fit.get("optimiser") or {}, f"{place}/optimiser"
    if not optimiser.get("class"):
        ask(graph, subject, "optimiser", "the optimiser was not seen", place)
        return
    if optimiser.get("custom"):
        ask(graph, subject, "optimiser", "the optimiser is a class of the program", source)
    graph.put(subject, "optimiser", f"optimiser:{optimiser['class']}", f"{source}/class")
    for key, word in (("learning_rate", "learningRate"), ("momentum", "momentum")):
        value = number(optimiser.get(key))
        if value is not None:
            graph.put_value(subject, word, value, f"{source}/{key}")
    end, start = (number(optimiser.get(key)) for key in ("learning_rate_end", "learning_rate"))
    changed = end is not None and start is not None and abs(end - start) > 1e-3 * abs(start)
    names = {str(name) for name in fit.get("callbacks") or ()}
    if optimiser.get("schedule") or changed or "LearningRateScheduler" in names:
        graph.put_value(subject, "scheduled", True, f"{source}/schedule")
    if optimiser.get("weight_decay"):
        graph.put_value(subject, "decays", True, f"{source}/weight_decay")


def _add_gradients(graph: TrainingGraph, fit: Mapping[str, Any], place: str) -> None:
    """Assert the layers whose trainable weights no gradient ever reached."""
    reached: dict[str, bool] = {}
    for probe in fit.get("probes") or ():
        for weight in probe.get("weights") or ():
            told, layer = weight.get("gradient"), str(weight.get("layer"))
            if told in ("ok", "none"):
                moved = (number(weight.get("update_ratio")) or 0.0) > 0
                reached[layer] = reached.get(layer, False) or told == "ok" or moved
    model = str(fit.get("model"))
    for layer, has in sorted(reached.items()):
        known = graph.log.layer(model, layer) or {}
        if has:
            graph.put(f"layer:{model}/{layer}", "reachedIn", f"fit:{fit['id']}", f"{place}/probes")
        if not has and known.get("trainable") and known.get("trainable_parameters"):
            graph.put(
                f"layer:{model}/{layer}", "unreachedIn", f"fit:{fit['id']}", f"{place}/probes"
            )
