"""What the policy does to a finding or an open outcome: the severity, the reason, the waiver.

Whether it does anything is derived by the rules of `rules/policy/effects.n3`; here the derived
facts are read and put into words.
"""

from __future__ import annotations

from envcheck.comparing.graph import Graph
from envcheck.reasoning import Explanation, Inference
from envcheck.records import record

__all__ = ["Effect", "Effects"]

_POLICY = "policy:"


@record(kw_only=True)
class Effect:
    """The severity that counts, sentences on where it comes from, and the facts behind it."""

    severity: str
    sentences: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    waived: str = ""
    in_baseline: bool = False


class Effects:
    """The effects of the policy on the results of one inference."""

    def __init__(self, graph: Graph, inference: Inference) -> None:
        self._graph = graph
        self._inference = inference
        rules = dict(inference.matching("ec:accepts"))
        self._silenced: dict[tuple[str, str], str] = {}
        for node, subject in inference.matching("ec:silences"):
            key = (rules[node][5:], subject)
            kept = self._silenced.setdefault(key, node)
            if graph.acceptances[kept].baselined:  # a waiver tells more than the baseline
                self._silenced[key] = node

    def on(self, subject: str, rule: str, severity: str) -> Effect:
        """Return what the policy does to the result of a rule, of a severity, about a subject."""
        sentences: list[str] = []
        because: list[str] = []
        if self._holds(subject, "resetBy", rule, because):
            severity = self._graph.policy.severity[rule]
            sentences.append(
                f"The policy sets {rule} to {severity}{self._cite(f'severity.{rule}')}."
            )
        if self._holds(subject, "raisedBy", rule, because):
            severity = "error"
            sentences.append("It counts as an error because of --strict.")
        if self._holds(subject, "allowedIn", rule, because):
            severity = "info"
            sentences.append(f"The policy allows this drift{self._drift(subject, rule)}.")
        node = self._silenced.get((rule, subject))
        if node is None:
            return Effect(severity=severity, sentences=tuple(sentences), because=tuple(because))
        because += _steps(self._inference.explain((node, "ec:silences", subject)))
        accepted = self._graph.acceptances[node]
        return Effect(
            severity=severity,
            sentences=tuple(sentences),
            because=tuple(because),
            waived=accepted.note,
            in_baseline=accepted.baselined,
        )

    def _holds(self, subject: str, predicate: str, rule: str, because: list[str]) -> bool:
        triple = (subject, f"ec:{predicate}", f"rule:{rule}")
        if triple not in self._inference:
            return False
        because += _steps(self._inference.explain(triple))
        return True

    def _drift(self, subject: str, rule: str) -> str:
        explanation = self._inference.explain((subject, "ec:allowedIn", f"rule:{rule}"))
        return "".join(self._cite(name) for name in _policy_names(explanation))

    def _cite(self, name: str) -> str:
        """Return a setting with its place in brackets, as far as they are known."""
        cited = self._graph.policy.citation(name)
        told = f"{name} = {cited.value}" if cited.value is not None else name
        return f" ({told}, {cited.place})" if cited.place else f" ({told})"


def _steps(explanation: Explanation) -> list[str]:
    """Return a fact and what it rests on directly; the finding itself is explained before."""
    return [explanation.text, *(f"  {premise.text}" for premise in explanation.premises)]


def _policy_names(explanation: Explanation) -> list[str]:
    """Return the settings of the policy under an explanation, each once, in order."""
    found: dict[str, None] = {}
    for leaf in explanation.leaves():
        for source in leaf.sources:
            for item in source if isinstance(source, tuple) else ():
                if item.startswith(_POLICY):
                    found[item.removeprefix(_POLICY)] = None
    return list(found)
