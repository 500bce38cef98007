"""From derived facts to findings: fill in the texts, collect the evidence, name the root cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envcheck.comparing.acceptances import add_acceptances
from envcheck.comparing.effects import Effects
from envcheck.comparing.graph import Graph
from envcheck.comparing.ranking import ranked
from envcheck.comparing.subjects import subject_of, values_of
from envcheck.facts import Fact
from envcheck.findings import Evidence, Finding, Fix, Location, Outcome
from envcheck.reasoning import Derivation, Explanation, Inference, infer
from envcheck.reasoning.explanation import ASSERTED
from envcheck.records import record, replace
from envcheck.rulebook.index import IndexEntry
from envcheck.rulebook.loading import Rule, Rulebook
from envcheck.rulebook.templates import fill, fill_command, words

__all__ = ["Judgement", "count_outcomes", "judge", "judges_environments"]

_MOST_RELATED = 3
_CONFIDENCE = {"measured": 0.95, "declared": 0.9, "inferred": 0.6}
_OPEN_QUESTIONS = {
    ("ec:servesWith", None): "{object} there runs exported models, so it is not known whether the "
    "package is still needed",
    ("ec:relation", "ec:undetermined"): "one side accepts a range of versions",
    ("ec:packageList", "ec:partial"): "the list of packages is not complete",
    ("ec:openQuestion", None): "{object}",
}
"""Why a rule ends unknown although every fact is known, by predicate and object."""


@record
class Judgement:
    """What the rules say about one graph; `rules` counts them by outcome."""

    findings: tuple[Finding, ...]
    undetermined: tuple[Outcome, ...]
    rules: Mapping[str, int]
    inference: Inference


def judge(
    graph: Graph,
    rulebook: Rulebook,
    index: Mapping[str, IndexEntry],
    *,
    strict: bool = False,
) -> Judgement:
    """Run the rules over a graph and return findings, open outcomes and counts.

    Under `strict`, waivers and baseline entries that are no longer needed are errors.
    """
    running = [
        rule for rule in rulebook.ids if graph.policy.runs(rule, rulebook.rule(rule).profile)
    ]
    rulebook.assert_into(graph.base, disabled=set(rulebook.ids).difference(running))
    add_acceptances(graph, running, strict=strict)
    inference = infer(graph.base, rulebook.implications)
    builder = _FindingBuilder(graph, rulebook, index, inference)
    violated = inference.matching("ec:violates")
    findings = [builder.finding(subject, rule[5:]) for subject, rule in violated]
    findings = _explained(findings, violated, inference)
    findings += [
        builder.finding(node, rule[5:], "ec:notices")
        for node, rule in inference.matching("ec:notices")
    ]
    open_pairs = [
        pair for pair in inference.matching("ec:undetermined") if pair not in set(violated)
    ]
    undetermined = [builder.outcome(subject, rule[5:]) for subject, rule in open_pairs]
    return Judgement(
        findings=ranked(findings),
        undetermined=tuple(undetermined),
        rules=count_outcomes(
            judges_environments(rulebook, running),
            violated,
            open_pairs,
            inference.matching("ec:inScope"),
        ),
        inference=inference,
    )


def judges_environments(rulebook: Rulebook, rules: Iterable[str]) -> list[str]:
    """Return those rules that judge environments; others report on the policy or apply it."""
    judging = {
        implication.rule
        for implication in rulebook.implications
        if any(predicate == "ec:violates" for _, predicate, _ in implication.heads)
    }
    return [rule for rule in rules if rule in judging]


def count_outcomes(
    ids: Iterable[str],
    violated: Iterable[tuple[str, str]],
    undetermined: Iterable[tuple[str, str]],
    in_scope: Iterable[tuple[str, str]],
) -> dict[str, int]:
    """Count the rules by outcome; a finding outweighs an unknown, that a pass."""
    fired, unknown, scoped = (
        {rule[5:] for _, rule in pairs} for pairs in (violated, undetermined, in_scope)
    )
    counts = dict.fromkeys(("pass", "finding", "not_applicable", "unknown", "error"), 0)
    for rule_id in ids:
        if rule_id in fired:
            counts["finding"] += 1
        elif rule_id in unknown:
            counts["unknown"] += 1
        elif rule_id in scoped:
            counts["pass"] += 1
        else:
            counts["not_applicable"] += 1
    return counts


def _explained(
    findings: list[Finding], violated: list[tuple[str, str]], inference: Inference
) -> list[Finding]:
    """Mark each finding that another one accounts for."""
    by_subject: dict[str, list[int]] = {}
    for position, (subject, _) in enumerate(violated):
        by_subject.setdefault(subject, []).append(position)
    causes: dict[int, int] = {}
    for cause, effect in inference.matching("ec:explains"):
        for position in by_subject.get(effect, ()):
            first = min(by_subject.get(cause, ()), default=None)
            if first is not None and first != position:
                causes.setdefault(position, first)
    absorbed = set(inference.matching("ec:absorbs"))
    for positions in by_subject.values():
        for here in positions:
            for other in positions:
                if (violated[other][1], violated[here][1]) in absorbed:
                    causes.setdefault(here, other)
    return [
        replace(finding, explained_by=_name(findings[causes[position]]))
        if position in causes
        else finding
        for position, finding in enumerate(findings)
    ]


def _name(finding: Finding) -> str:
    return f"{finding.rule} {finding.subject}"


class _FindingBuilder:
    """Turns pairs of subject and rule into findings and outcomes."""

    def __init__(
        self,
        graph: Graph,
        rulebook: Rulebook,
        index: Mapping[str, IndexEntry],
        inference: Inference,
    ) -> None:
        self._graph = graph
        self._rulebook = rulebook
        self._index = index
        self._inference = inference
        self._effects = Effects(graph, inference)

    def finding(self, subject: str, rule_id: str, outcome: str = "ec:violates") -> Finding:
        """Return the finding of a rule about a subject."""
        rule, entry = self._rulebook.rule(rule_id), self._index[rule_id]
        triple = (subject, outcome, f"rule:{rule_id}")
        derivation = self._inference.derivations_of(triple)[0]
        explanation = self._inference.explain(triple)
        evidence = self._evidence(explanation)
        places = self._places(evidence, subject)
        bindings = derivation.bindings
        existed = (subject, "ec:preExisting", "true") in self._inference
        effect = self._effects.on(subject, rule_id, rule.severity)
        old = ("The train side has it too.",) if existed else ()
        return Finding(
            rule=rule_id,
            fault=rule.fault,
            category=entry.category,
            component=entry.component,
            severity="info" if existed else effect.severity,
            confidence=rule.confidence or _CONFIDENCE[rule.basis],
            basis=rule.basis,
            title=fill(rule.title, bindings),
            detail=" ".join((fill(rule.detail, bindings), *old, *effect.sentences)),
            fix=_fix(rule, derivation),
            subject=subject_of(subject),
            node=subject,
            train=_bound(bindings, "train"),
            deploy=_bound(bindings, "deploy"),
            location=places[0] if places else Location(),
            related=places[1 : 1 + _MOST_RELATED],
            evidence=evidence,
            because=(*explanation.lines(), *effect.because),
            guards=rule.guards,
            pre_existing=existed,
            waived=effect.waived,
            in_baseline=effect.in_baseline,
            values=values_of(self._graph.base, subject) if outcome == "ec:violates" else None,
        )

    def outcome(self, subject: str, rule_id: str) -> Outcome:
        """Return the open outcome of a rule about a subject, with the reason."""
        rule = self._rulebook.rule(rule_id)
        triple = (subject, "ec:undetermined", f"rule:{rule_id}")
        return Outcome(
            rule=rule_id,
            title=rule.name.replace("-", " "),
            subject=subject_of(subject),
            severity=self._effects.on(subject, rule_id, rule.severity).severity,
            reason=self._open_question(self._inference.explain(triple)),
        )

    def _open_question(self, explanation: Explanation) -> str:
        """Return why a rule ended unknown: a fact that is not known, or what it cannot decide."""
        for item in self._sources(explanation):
            side, _, key = item.partition(":")
            if side == "policy":
                continue
            fact = self._fact(side, key)
            if fact.is_open:
                return f"{side} {key}: {fact.reason}"
            gap = _gap(fact) if key == "python.packages" else ""
            if gap:
                return f"{side} {key}: {gap}"
        for leaf in explanation.leaves():
            if leaf.triple is None:
                continue
            _, predicate, object_ = leaf.triple
            text = _OPEN_QUESTIONS.get((predicate, object_)) or _OPEN_QUESTIONS.get(
                (predicate, None)
            )
            if text is not None:
                return text.replace("{object}", words(object_))
        return "a fact that it needs is not known"

    def _sources(self, explanation: Explanation) -> list[str]:
        """Return the fingerprint facts under an explanation, each once, in order."""
        found: dict[str, None] = {}
        for leaf in explanation.leaves():
            if leaf.kind != ASSERTED:
                continue
            for source in leaf.sources:
                if isinstance(source, tuple):
                    found.update(dict.fromkeys(source))
        return list(found)

    def _fact(self, side: str, key: str) -> Fact:
        return (self._graph.train if side == "train" else self._graph.deploy).fact(key)

    def _evidence(self, explanation: Explanation) -> tuple[Evidence, ...]:
        out = []
        for item in self._sources(explanation):
            side, _, key = item.partition(":")
            if side == "policy":
                out.append(self._setting(key))
                continue
            fact = self._fact(side, key)
            out.append(Evidence(fact=key, origin=side, value=_short(key, fact)))
        return tuple(sorted(out, key=lambda item: (item.origin != "train", item.fact)))

    def _setting(self, name: str) -> Evidence:
        """Return a setting of the policy as evidence; a waiver or entry is its own name."""
        accepted = name in self._graph.acceptances
        value = name if accepted else self._graph.policy.citation(name).value
        return Evidence(
            fact="policy" if accepted else f"policy.{name}", origin="policy", value=value
        )

    def _places(self, evidence: tuple[Evidence, ...], subject: str) -> tuple[Location, ...]:
        """Return where the evidence stands: a waiver or entry first, then facts, train first."""
        places: dict[Location, None] = {}
        accepted = self._graph.acceptances.get(subject)
        if accepted is not None:
            places[Location(file=accepted.place or None, line=accepted.line)] = None
        for item in evidence:
            if item.origin == "policy":
                continue
            side = self._graph.train if item.origin == "train" else self._graph.deploy
            line = side.line_of(item.fact) if side.place else None
            if line is not None:
                places[Location(file=side.place, line=line)] = None
        return tuple(places)


def _gap(fact: Fact) -> str:
    """Return why a list of packages does not tell what is absent, or nothing when it does."""
    if not fact.is_ok or fact.value.get("complete"):
        return ""
    if fact.value.get("kind", "installed") == "installed":
        return "the list of packages is not complete"
    return "the file names what is asked for, not what comes with it"


def _fix(rule: Rule, derivation: Derivation) -> Fix:
    bindings = derivation.bindings
    return Fix(text=fill(rule.fix, bindings), command=fill_command(rule.command, bindings))


def _bound(bindings: Mapping[str, str], name: str) -> Any:
    return words(bindings[name]) if name in bindings else None


def _short(key: str, fact: Fact) -> Any:
    """Return the value of a fact in few words: a package is its version."""
    if not fact.is_ok:
        return fact.state
    if key.startswith("package.") and isinstance(fact.value, dict):
        return fact.value.get("version", fact.value.get("specifier", ""))
    if key == "python.packages":
        return f"{fact.value.get('count', '?')} packages"
    return fact.value
