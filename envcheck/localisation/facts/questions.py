"""Questions that a log leaves open, each with its topic and its reason.

A rule that needs the answer ends unknown with that reason: never silent, never an alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.localisation.places import place_of

if TYPE_CHECKING:
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["ask"]


def ask(graph: TrainingGraph, about: str, topic: str, why: str, *sources: str) -> None:
    """Leave a question open about a subject; `topic` is an `ec:` word that rules match."""
    node = f"open:{topic}/{about.replace(':', '/')}"
    graph.put(node, "about", about, *sources)
    graph.put(node, "topic", f"ec:{topic}", *sources)
    graph.put_value(node, "openQuestion", why, *sources)
    graph.stand(node, place_of(graph, about))
