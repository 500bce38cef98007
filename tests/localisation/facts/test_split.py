"""Shares of rows, doubles and overlap, worked out by hand."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.facts.split import add_split
from envcheck.localisation.graph import TrainingGraph
from envcheck.localisation.training_log import TrainingLog


def told(**data: Any) -> dict[str, str]:
    """Return what is said about a fit with these data, by predicate."""
    fit = {"id": "f0", "validation": "data", "data": data}
    graph = TrainingGraph(TrainingLog({"schema": "envcheck.training/1"}))
    add_split(graph, fit, "fits/0")
    return {predicate: object_ for _, predicate, object_ in graph.base}


def test_the_larger_part_counts() -> None:
    """60, 20 and 20 rows: a fifth is held back."""
    facts = told(rows=60, validation={"rows": 20}, test={"rows": 20})

    assert facts["ec:heldShare"] == "0.2"
    assert facts["ec:allRows"] == "100"


def test_a_single_part() -> None:
    """250 of 500 rows."""
    assert told(rows=250, validation={"rows": 250})["ec:heldShare"] == "0.5"


def test_doubles_of_the_data_are_no_leak() -> None:
    """A tenth of doubles explains up to a fifth of shared rows."""
    leak = {"rows": 100, "overlap_share": 0.25}
    natural = {"rows": 100, "overlap_share": 0.15}

    assert told(rows=900, duplicate_share=0.1, validation=leak)["ec:overlapPercent"] == '"25.0 %'
    assert "ec:overlapPercent" not in told(rows=900, duplicate_share=0.1, validation=natural)


def test_few_possible_rows() -> None:
    """16 different rows among 1600: parity of four bits."""
    assert told(rows=1600, rows_examined=1600, duplicate_share=0.99)["ec:tinyDomain"] == "true"
    assert "ec:tinyDomain" not in told(rows=1600, rows_examined=1600, duplicate_share=0.01)


def test_nothing_is_known_of_a_stream() -> None:
    """Without the number of rows there is no share."""
    assert "ec:heldShare" not in told(rows=None, validation={"rows": 20})
