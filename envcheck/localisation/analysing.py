"""Judge a training log: facts, rules, ranked root causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.comparing.compare import BUILT_IN_ENGINE, EYE
from envcheck.findings import Report
from envcheck.localisation.facts import add_facts
from envcheck.localisation.graph import TrainingGraph
from envcheck.localisation.judging import judge
from envcheck.localisation.rulesets import load_training_rules
from envcheck.localisation.signals import add_signals
from envcheck.localisation.summary import about_run
from envcheck.policy.model import Policy

if TYPE_CHECKING:
    from envcheck.comparing.rulesets import Rules
    from envcheck.localisation.signals import Signals
    from envcheck.localisation.training_log import TrainingLog

__all__ = ["analyse", "build_training_graph"]


def build_training_graph(log: TrainingLog) -> tuple[TrainingGraph, dict[str, Signals]]:
    """Return the facts that the training rules read, and the signals of each fit by its id."""
    graph = TrainingGraph(log)
    signals = add_signals(graph)
    add_facts(graph, signals)
    return graph, signals


def analyse(
    log: TrainingLog,
    *,
    rules: Rules | None = None,
    policy: Policy | None = None,
    strict: bool = False,
    engine: str = BUILT_IN_ENGINE,
) -> Report:
    """Return the report of the training stage for a training log.

    Without `rules` those that ship with envcheck apply; a policy with the profile `fl4deep` adds
    the rules of FL4Deep as they were published. The engine `eye` has EYE confirm what the built-in
    engine derives.
    A log without any training gives a report in which nothing was checked.
    """
    inputs: dict[str, Any] = {"run": about_run(log)}
    if not log.recorded or not (log.models or log.program.get("exception")):
        reason = str(log.data.get("reason") or "the script trained no Keras model")
        return Report(checked=(), inputs=inputs, notes=(reason,), strict=strict)
    rules = rules or load_training_rules()
    graph, signals = build_training_graph(log)
    judgement = judge(graph, rules.book, rules.index, signals, policy or Policy())
    notes = [*graph.notes, *judgement.notes]
    if engine == EYE:
        from envcheck.comparing.reference import confirm_with_eye

        notes.append(confirm_with_eye(judgement.inference, rules.book))
    return Report(
        notes=tuple(notes),
        findings=judgement.findings,
        undetermined=judgement.undetermined,
        rules=judgement.rules,
        checked=("training",),
        inputs=inputs,
        strict=strict,
    )
