"""Where a finding about training stands: source lines, the layer, the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.findings import Location
from envcheck.localisation.graph import PROGRAM, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph

__all__ = ["locations_of", "place_of", "subject_of"]

_MOST_RELATED = 3


def place_of(graph: TrainingGraph, subject: str) -> Place:
    """Return where a subject stands, also where no fact builder has said so.

    `layer:m0/outer/dense` names model and layer itself, `fit:f0`, `output:f0/0`, `input:f0/0`
    and `target:f0/0` their fit.
    """
    told = graph.places.get(subject)
    if told is not None:
        return told
    kind, _, rest = subject.partition(":")
    head, _, path = rest.partition("/")
    if kind == "layer":
        return Place(model=head, layer=path)
    if kind == "model":
        return Place(model=head)
    return Place() if subject == PROGRAM else Place(fit=head)


def subject_of(graph: TrainingGraph, subject: str) -> str:
    """Return what a report calls a subject: the layer, the argument, the array, or the script."""
    place = place_of(graph, subject)
    kind, _, rest = subject.partition(":")
    if place.layer:
        return f"layer {place.layer}"
    if kind in ("input", "target", "output"):
        return f"{kind} {rest.partition('/')[2] or '0'} of {_fit_name(graph, place)}"
    if kind == "model":
        return f"model {(graph.log.model(rest) or {}).get('name') or rest}"
    return "script" if subject == PROGRAM else _fit_name(graph, place)


def _fit_name(graph: TrainingGraph, place: Place) -> str:
    fits = [fit["id"] for fit in graph.log.fits]
    if len(fits) < 2 or place.fit not in fits:
        return "training"
    return f"training {fits.index(place.fit) + 1}"


def locations_of(
    graph: TrainingGraph, subject: str, argument: str
) -> tuple[Location, tuple[Location, ...]]:
    """Return the source line of a subject with its layer and batch, and up to 3 further lines.

    With an argument it is the line where that argument is written; else that of the call.
    """
    place = place_of(graph, subject)
    sites = [site for site in _sites(graph, subject, place, argument) if site]
    extra: dict[str, Any] = {
        "layer": place.layer or None,
        "tensor": place.tensor or None,
        "batch": place.batch,
        "epoch": place.epoch,
    }
    if not sites:
        return Location(**extra), ()
    related = dict.fromkeys(_location(site) for site in sites[1:])
    first = _location(sites[0])
    others = [other for other in related if other != first][:_MOST_RELATED]
    return Location(file=first.file, line=first.line, column=first.column, **extra), tuple(others)


def _location(site: Mapping[str, Any]) -> Location:
    return Location(file=site.get("file"), line=site.get("line"), column=site.get("column"))


def _sites(graph: TrainingGraph, subject: str, place: Place, argument: str) -> list[Any]:
    """Return the sites of a subject, the best one first."""
    log = graph.log
    if subject == PROGRAM:
        exception = log.program.get("exception") or {}
        return [exception.get("site"), *(exception.get("chain") or ())]
    layer = log.layer(_model_of(graph, place), place.layer) if place.layer else None
    if layer is not None:
        written = (layer.get("arguments") or {}).get(argument)
        return [written, layer.get("site"), *(layer.get("chain") or ())]
    if place.fit:
        fit = log.fit(place.fit) or {}
        written = (fit.get("arguments") or {}).get(argument)
        compiled = argument in _COMPILED
        call = fit.get("compile_site") if compiled else fit.get("site")
        return [written, call or fit.get("site")]
    return [(log.model(place.model) or {}).get("site")]


_COMPILED = frozenset({"loss", "optimizer", "metrics", "learning_rate", "momentum"})
"""Arguments that `compile` takes; the others are those of `fit`."""


def _model_of(graph: TrainingGraph, place: Place) -> str:
    return place.model or str((graph.log.fit(place.fit) or {}).get("model"))
