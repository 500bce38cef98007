"""Facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals

__all__ = ["add"]


def add(graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
    """Assert the facts."""
    del graph, signals
