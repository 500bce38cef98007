"""Facts about numbers that went wrong: symptoms, where they are, and which led to which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.localisation.facts.questions import ask
from envcheck.localisation.graph import Place
from envcheck.localisation.symptoms import Symptom, bracket, symptoms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["add"]

_MOST_NAMED = 5

_LEADS_TO = (
    "overflow", "exploding", "dead", "saturated", "vanishing", "dying", "constant",
    "unchanged", "frozen", "still",
)  # fmt: skip
"""The order in which symptoms can bring each other about; NaN ends a fit, so it is apart."""


def add(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert the symptoms of every fit, and whether it was probed at all."""
    del signals
    for index, fit in enumerate(graph.log.fits):
        subject, place = f"fit:{fit['id']}", f"fits/{index}"
        if fit.get("probes"):
            graph.put(subject, "numbers", "ec:probed", f"{place}/probes")
        else:
            why = str((fit.get("probing") or {}).get("reason") or "the layers were not looked at")
            graph.put(subject, "numbers", "ec:unknown", f"{place}/probing")
            ask(graph, subject, "numbers", why, f"{place}/probing")
        found = symptoms_of(fit, graph.log.model(fit.get("model")))
        for symptom in found:
            _assert(graph, fit, place, symptom)
        _order(graph, str(fit["id"]), found)


def _node(fit: str, symptom: Symptom) -> str:
    return f"symptom:{fit}/{symptom.kind}"


def _assert(graph: TrainingGraph, fit: Mapping[str, object], place: str, symptom: Symptom) -> None:
    node, model = _node(str(fit["id"]), symptom), str(fit.get("model"))
    sources = [f"{place}/{source}" for source in symptom.sources]
    graph.put(node, "symptom", f"ec:{symptom.kind}", *sources)
    graph.put(node, "ofFit", f"fit:{fit['id']}", *sources)
    values = {
        "layerName": f"layer “{symptom.layer}”" if symptom.layer else "the model",
        "when": bracket(symptom),
        "seenValue": symptom.seen,
        "expectedValue": symptom.expected,
        "what": symptom.tensor or "values",
        "elsewhere": _elsewhere(symptom.others),
    }
    for name, value in values.items():
        graph.put_value(node, name, value, *sources)
    graph.stand(
        node,
        Place(fit=str(fit["id"]), model=model, layer=symptom.layer, tensor=symptom.tensor,
              batch=symptom.bad.batch, epoch=symptom.bad.epoch + 1, series=symptom.series),
    )  # fmt: skip


def _elsewhere(others: tuple[str, ...]) -> str:
    """Return a sentence about the other layers in the same state."""
    if not others:
        return "No other layer is in this state."
    named = ", ".join(others[:_MOST_NAMED])
    more = len(others) - _MOST_NAMED
    return f"The same holds for {named}{f' and {more} more' if more > 0 else ''}."


def _order(graph: TrainingGraph, fit: str, found: list[Symptom]) -> None:
    """Assert which symptom can have led to which: an earlier or simultaneous one, down the line."""
    listed = [symptom for symptom in found if symptom.kind in _LEADS_TO]
    for cause in listed:
        for effect in listed:
            down = _LEADS_TO.index(cause.kind) < _LEADS_TO.index(effect.kind)
            if down and cause.bad.step <= effect.bad.step:
                sources = sorted({f"fits/{_index(graph, fit)}/probes"})
                graph.put(_node(fit, cause), "leadsTo", _node(fit, effect), *sources)


def _index(graph: TrainingGraph, fit: str) -> int:
    return next(k for k, item in enumerate(graph.log.fits) if item["id"] == fit)
