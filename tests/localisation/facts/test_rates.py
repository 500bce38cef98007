"""Update ratios of hand-written probes."""

from __future__ import annotations

from typing import Any

from envcheck.localisation.facts.rates import add_rates
from envcheck.localisation.graph import TrainingGraph
from envcheck.localisation.training_log import TrainingLog


def probe(*ratios: float | None, gradient: float = 0.1) -> dict[str, Any]:
    """Return a probe with one layer for each ratio."""
    return {"weights": [
        {"layer": f"l{n}", "name": "kernel", "mean_abs": 1.0, "update_ratio": ratio,
         "gradient_mean_abs": gradient} for n, ratio in enumerate(ratios)
    ]}  # fmt: skip


def told(*probes: dict[str, Any], steps: int = 1000) -> dict[str, str]:
    """Return what is said about a fit with these probes."""
    graph = TrainingGraph(TrainingLog({"schema": "envcheck.training/1"}))
    add_rates(graph, "fit:f0", {"probes": list(probes), "steps": steps}, "fits/0")
    return {predicate: object_ for _, predicate, object_ in graph.base}


def test_shares_and_travel() -> None:
    """Medians 1e-5 and 1e-2: one of two is slow; 1000 steps of 2e-2 bound the travel by 20."""
    facts = told(probe(1e-5, 1e-2), probe(1e-5, 2e-2), probe(None, 0.5e-2))

    assert facts["ec:slowShare"] == "0.5"
    assert facts["ec:fastShare"] == "0.0"
    assert facts["ec:travel"] == "20.0"


def test_weights_that_stand_still() -> None:
    """A ratio of 0 is slow, and the travel is 0."""
    facts = told(probe(0.0), probe(0.0))

    assert (facts["ec:slowShare"], facts["ec:travel"]) == ("1.0", "0.0")


def test_no_gradient_no_travel() -> None:
    """Where there is no gradient, the learning rate is not what holds the weights."""
    assert "ec:travel" not in told(probe(0.0, gradient=0.0), probe(0.0, gradient=0.0))


def test_one_measurement_is_no_measurement() -> None:
    """A layer needs two measured steps; without any the question is open."""
    facts = told(probe(1e-5), probe(None))

    assert "ec:slowShare" not in facts
    assert facts["ec:topic"] == "ec:updates"
