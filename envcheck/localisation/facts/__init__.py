"""From a training log to the typed facts that the rules read."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["BUILDERS", "add_facts"]

BUILDERS = ("data", "model", "training", "numeric")
"""The modules of this package with a function `add(graph, signals)`, in the order they run."""


def add_facts(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert everything that rules read beside the signals; `signals` are those of each fit."""
    for name in BUILDERS:
        import_module(f"{__name__}.{name}").add(graph, signals)
