"""From derived facts to findings about training, with evidence, source line and alternatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.comparing.judging import count_outcomes
from envcheck.findings import Evidence, Finding, Fix, Outcome
from envcheck.localisation.accepting import accepted
from envcheck.localisation.drawing import series_of
from envcheck.localisation.places import locations_of, place_of, subject_of
from envcheck.localisation.ranking import ranked
from envcheck.reasoning import infer
from envcheck.reasoning.explanation import ASSERTED
from envcheck.records import replace
from envcheck.rulebook.templates import fill, fill_command, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envcheck.localisation.graph import TrainingGraph
    from envcheck.localisation.signals import Signals
    from envcheck.policy.model import Policy
    from envcheck.reasoning import Explanation, Inference
    from envcheck.rulebook.index import IndexEntry
    from envcheck.rulebook.loading import Rule, Rulebook

__all__ = ["Judgement", "judge"]

_Pair = tuple[str, str]
_CONFIDENCE = {"measured": 0.95, "declared": 0.9, "inferred": 0.6}
_MOST_PER_COMPONENT = 3
_MOST_EVIDENCE = 12
_LONGEST = 120
STAGE = "training"
_UNKNOWN_CAUSE = "Cause unknown: no other finding accounts for it."


@dataclass(frozen=True)
class Judgement:
    """What the rules say about one run; `rules` counts them by outcome."""

    findings: tuple[Finding, ...]
    undetermined: tuple[Outcome, ...]
    rules: Mapping[str, int]
    inference: Inference
    notes: tuple[str, ...] = ()


def judge(
    graph: TrainingGraph,
    rulebook: Rulebook,
    index: Mapping[str, IndexEntry],
    signals: Mapping[str, Signals],
    policy: Policy,
) -> Judgement:
    """Run the training rules over a graph and return findings, open outcomes and counts.

    The policy says which rules run, resets severities and waives findings. Where a fit performs
    well, only what is proven is reported about it (the performance gate).
    """
    running = [rule for rule in rulebook.ids if policy.runs(rule, rulebook.rule(rule).profile)]
    rulebook.assert_into(graph.base, disabled=set(rulebook.ids).difference(running))
    inference = infer(graph.base, rulebook.implications)
    gate = _Gate(graph, signals)
    builder = _Builder(graph, rulebook, index, inference)
    violated = [
        pair
        for pair in inference.matching("ec:violates")
        if not gate.closes(pair[0], rulebook.rule(pair[1][5:]))
    ]
    findings = [builder.finding(subject, rule[5:]) for subject, rule in violated]
    findings = accepted(_explained(findings, violated, inference), policy)
    findings = _grouped(ranked(findings, index, rulebook), inference)
    shown, hidden = _limited(findings, rulebook)
    seen = set(inference.matching("ec:violates"))
    open_pairs = [pair for pair in inference.matching("ec:undetermined") if pair not in seen]
    return Judgement(
        findings=tuple(replace(item, rank=rank) for rank, item in enumerate(shown, 1)),
        undetermined=tuple(builder.outcome(subject, rule[5:]) for subject, rule in open_pairs),
        rules=count_outcomes(running, violated, open_pairs, inference.matching("ec:inScope")),
        inference=inference,
        notes=_told(hidden),
    )


class _Gate:
    """The performance gate: a fit that performs well is not accused on a suspicion."""

    def __init__(self, graph: TrainingGraph, signals: Mapping[str, Signals]) -> None:
        self._graph = graph
        self._good = {fit for fit, told in signals.items() if told.performance == "good"}
        self._fits_of: dict[str, set[str]] = {}
        for fit in graph.log.fits:
            self._fits_of.setdefault(str(fit.get("model")), set()).add(fit["id"])

    def closes(self, subject: str, rule: Rule) -> bool:
        """Tell whether a finding of a rule about a subject is not to be reported."""
        if rule.strength == "proof" or rule.profile:
            return False
        place = place_of(self._graph, subject)
        fits = {place.fit} if place.fit else self._fits_of.get(place.model, set())
        return bool(fits) and fits <= self._good


def _explained(
    findings: list[Finding], violated: list[_Pair], inference: Inference
) -> list[Finding]:
    """Mark each finding that another one accounts for."""
    at: dict[str, list[int]] = {}
    for position, (subject, _) in enumerate(violated):
        at.setdefault(subject, []).append(position)
    causes: dict[int, int] = {}
    for cause, effect in inference.matching("ec:explains"):
        first = next(iter(at.get(cause, ())), None)
        for position in at.get(effect, ()):
            if first is not None and position != first:
                causes.setdefault(position, first)
    absorbed = set(inference.matching("ec:absorbs"))
    for here, (_, rule) in enumerate(violated):
        for other, (_, cause) in enumerate(violated):
            if here != other and (cause, rule) in absorbed and causes.get(other) != here:
                causes.setdefault(here, other)
    out = []
    for position, finding in enumerate(findings):
        if position in causes:
            root = findings[causes[position]]
            finding = replace(finding, explained_by=f"{root.rule} {root.subject}")
        out.append(finding)
    return out


def _without_cause(finding: Finding, rulebook: Rulebook) -> Finding:
    """Say of a symptom that nothing accounts for that its cause is unknown."""
    if finding.explained_by or rulebook.rule(finding.rule).strength != "symptom":
        return finding
    return replace(finding, detail=f"{finding.detail} {_UNKNOWN_CAUSE}")


def _grouped(findings: Iterable[Finding], inference: Inference) -> list[Finding]:
    """Make one finding of those whose fixes are equivalent: the best, the rest alternatives."""
    same = {frozenset(pair) for pair in inference.matching("ec:sameFixAs")}
    kept: list[Finding] = []
    for finding in findings:
        for position, first in enumerate(kept):
            pair = frozenset({f"rule:{first.rule}", f"rule:{finding.rule}"})
            if pair in same and len(pair) == 2 and not first.explained_by:
                told = f"{finding.rule} {finding.title}: {finding.fix.text}"
                kept[position] = replace(first, alternatives=(*first.alternatives, told))
                break
        else:
            kept.append(finding)
    return kept


def _limited(findings: list[Finding], rulebook: Rulebook) -> tuple[list[Finding], list[Finding]]:
    """Return the findings to show, at most three root causes per component, and the others.

    The rules of a profile are asked for, so all that they say is shown.
    """
    shown: list[Finding] = []
    hidden: list[Finding] = []
    counts: dict[str, int] = {}
    for finding in findings:
        quiet = finding.severity == "info" or finding.explained_by or finding.waived
        if quiet or rulebook.rule(finding.rule).profile:
            shown.append(finding)
            continue
        counts[finding.component] = counts.get(finding.component, 0) + 1
        (shown if counts[finding.component] <= _MOST_PER_COMPONENT else hidden).append(finding)
    return shown, hidden


def _told(hidden: list[Finding]) -> tuple[str, ...]:
    if not hidden:
        return ()
    rules = ", ".join(dict.fromkeys(finding.rule for finding in hidden))
    told = f"{len(hidden)} further findings rank below three others about the same part"
    return (f"{told} and are left out ({rules}); repair those first.",)


class _Builder:
    """Turns pairs of subject and rule into findings and outcomes."""

    def __init__(
        self,
        graph: TrainingGraph,
        rulebook: Rulebook,
        index: Mapping[str, IndexEntry],
        inference: Inference,
    ) -> None:
        self._graph = graph
        self._rulebook = rulebook
        self._index = index
        self._inference = inference

    def finding(self, subject: str, rule_id: str) -> Finding:
        """Return the finding of a rule about a subject."""
        rule, entry = self._rulebook.rule(rule_id), self._index[rule_id]
        triple = (subject, "ec:violates", f"rule:{rule_id}")
        bindings = self._inference.derivations_of(triple)[0].bindings
        explanation = self._inference.explain(triple)
        location, related = locations_of(self._graph, subject, rule.argument)
        return Finding(
            rule=rule_id,
            fault=rule.fault,
            category=entry.category,
            component=entry.component,
            severity=rule.severity,
            confidence=rule.confidence or _CONFIDENCE[rule.basis],
            basis=rule.basis,
            title=fill(rule.title, bindings),
            detail=fill(rule.detail, bindings),
            fix=Fix(text=fill(rule.fix, bindings), command=fill_command(rule.command, bindings)),
            subject=subject_of(self._graph, subject),
            node=subject,
            location=location,
            related=related,
            expected=_bound(bindings, "expected"),
            seen=_bound(bindings, "seen"),
            series=series_of(self._graph, place_of(self._graph, subject)),
            evidence=self._evidence(explanation),
            because=tuple(explanation.lines()),
            guards=rule.guards,
            stage=STAGE,
        )

    def outcome(self, subject: str, rule_id: str) -> Outcome:
        """Return the open outcome of a rule about a subject, with the reason."""
        rule = self._rulebook.rule(rule_id)
        explanation = self._inference.explain((subject, "ec:undetermined", f"rule:{rule_id}"))
        return Outcome(
            rule=rule_id,
            title=rule.name.replace("-", " "),
            subject=subject_of(self._graph, subject),
            severity=rule.severity,
            reason=_reason(explanation),
            stage=STAGE,
        )

    def _evidence(self, explanation: Explanation) -> tuple[Evidence, ...]:
        found: dict[str, None] = {}
        for leaf in explanation.leaves():
            if leaf.kind == ASSERTED:
                for source in leaf.sources:
                    if isinstance(source, tuple):
                        found.update(dict.fromkeys(source))
        values = {pointer: _short(self._graph.log.at(pointer)) for pointer in found}
        return tuple(
            Evidence(fact=pointer, origin="log", value=value)
            for pointer, value in sorted(values.items())[:_MOST_EVIDENCE]
        )


def _reason(explanation: Explanation) -> str:
    """Return why a rule ended unknown: the open question among its facts."""
    for leaf in explanation.leaves():
        if leaf.triple is not None and leaf.triple[1] == "ec:openQuestion":
            return words(leaf.triple[2])
    return "a fact that it needs is not known"


def _bound(bindings: Mapping[str, str], name: str) -> Any:
    return words(bindings[name]) if name in bindings else None


def _short(value: Any) -> Any:
    """Return a value of the log in few words: the size of a list or object, not its content.

    A report is strict JSON, so NaN and infinities become words.
    """
    if isinstance(value, list):
        flat = all(not isinstance(item, list | dict) for item in value)
        return [_short(item) for item in value] if flat and len(value) <= 8 else _size(value)
    if isinstance(value, dict):
        return f"{len(value)} members"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return value[:_LONGEST] if isinstance(value, str) else value


def _size(value: list[Any]) -> str:
    return f"{len(value)} items"
