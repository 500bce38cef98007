"""Explanations: from a fact down to the asserted facts, built-ins and absences it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reasoning.store import Triple
from envcheck.reasoning.terms import value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from envcheck.reasoning.inference import Derivation, Inference

__all__ = ["ABSENT", "ASSERTED", "BUILT_IN", "DERIVED", "Explanation", "explain"]

ASSERTED = "asserted"
DERIVED = "derived"
BUILT_IN = "built-in"
ABSENT = "absent"


class Explanation:
    """One node: a fact with its premises, or a leaf.

    `kind` says which: `asserted` (a leaf with its sources), `derived` (with the derivation
    and premises), `built-in` (a test that held) or `absent` (no fact matches). A fact that
    is needed twice is one shared node, so walk with `leaves` or `lines`, which visit it once.
    """

    __slots__ = ("derivation", "kind", "premises", "sources", "text", "triple")

    def __init__(
        self,
        kind: str,
        text: str,
        triple: Triple | None = None,
        sources: tuple[Hashable, ...] = (),
        derivation: Derivation | None = None,
    ) -> None:
        self.kind = kind
        self.text = text
        self.triple = triple
        self.sources = sources
        self.derivation = derivation
        self.premises: tuple[Explanation, ...] = ()

    def walk(self) -> Iterator[tuple[int, Explanation, bool]]:
        """Yield (depth, node, whether it came before), top down; premises once only."""
        seen: set[int] = set()
        stack = [(0, self)]
        while stack:
            depth, node = stack.pop()
            again = id(node) in seen
            yield depth, node, again
            if not again:
                seen.add(id(node))
                stack.extend((depth + 1, premise) for premise in reversed(node.premises))

    def leaves(self) -> list[Explanation]:
        """Return the distinct leaves in the order in which they come up."""
        return [n for _, n, again in self.walk() if not n.premises and not again]

    def lines(self) -> list[str]:
        """Return the explanation as indented text."""
        return [
            "  " * depth + node.text + (" (see above)" if again and node.premises else "")
            for depth, node, again in self.walk()
        ]

    def __repr__(self) -> str:
        return f"<Explanation {self.kind}: {self.text}>"


def explain(inference: Inference, triple: Triple) -> Explanation:
    """Return the explanation of a fact that holds."""
    chosen = _choose(inference, triple)
    nodes: dict[Triple, Explanation] = {}
    for fact, derivation in chosen.items():
        nodes[fact] = _node(inference, fact, derivation)
    for node in nodes.values():
        if node.derivation is not None:
            node.premises = (
                *(nodes[fact] for fact in node.derivation.facts),
                *_tests(node.derivation),
            )
    return nodes[triple]


def _choose(inference: Inference, triple: Triple) -> dict[Triple, Derivation | None]:
    """Pick for each fact under `triple` a derivation of least height, None if asserted.

    Heights grow from the asserted facts up, so that no fact ends up below itself.
    """
    options, waiting = _ancestry(inference, triple)
    chosen: dict[Triple, Derivation | None] = {f: None for f, ds in options.items() if not ds}
    missing = {
        (fact, i): len(set(derivation.facts))
        for fact, derivations in options.items()
        for i, derivation in enumerate(derivations)
    }
    layer: list[Triple] = list(chosen)
    ready = [key for key, count in missing.items() if count == 0]
    while layer or ready:
        for fact in layer:
            for key in waiting.get(fact, ()):
                missing[key] -= 1
                if missing[key] == 0:
                    ready.append(key)
        best: dict[Triple, int] = {}
        for fact, i in ready:
            if fact not in chosen:
                best[fact] = min(i, best.get(fact, i))
        for fact, i in best.items():
            chosen[fact] = options[fact][i]
        layer, ready = list(best), []
    return chosen


_Options = dict[Triple, tuple["Derivation", ...]]


def _ancestry(
    inference: Inference, triple: Triple
) -> tuple[_Options, dict[Triple, list[tuple[Triple, int]]]]:
    """Collect all derivations under `triple`, and which of them wait for which fact."""
    options: _Options = {}
    waiting: dict[Triple, list[tuple[Triple, int]]] = {}
    stack = [triple]
    while stack:
        fact = stack.pop()
        if fact in options:
            continue
        options[fact] = () if fact in inference.base else inference.derivations_of(fact)
        for i, derivation in enumerate(options[fact]):
            for premise in dict.fromkeys(derivation.facts):
                waiting.setdefault(premise, []).append((fact, i))
                stack.append(premise)
    return options, waiting


def _node(inference: Inference, fact: Triple, derivation: Derivation | None) -> Explanation:
    text = _say(fact)
    if derivation is None:
        return Explanation(ASSERTED, text, fact, inference.base.sources(fact))
    return Explanation(DERIVED, f"{text}, by {derivation.rule}", fact, (), derivation)


def _tests(derivation: Derivation) -> Iterator[Explanation]:
    for triple in derivation.built_ins:
        yield Explanation(BUILT_IN, _say(triple), triple)
    for term, items in derivation.memberships:
        listed = ", ".join(_word(item) for item in items)
        yield Explanation(BUILT_IN, f"{_word(term)} is one of {listed}")
    for absence in derivation.absences:
        wanted = " and ".join(_say(pattern) for pattern in absence)
        yield Explanation(ABSENT, f"no fact matches {wanted}")


def _say(triple: Triple) -> str:
    return " ".join(_word(term) for term in triple)


def _word(term: str) -> str:
    return repr(value(term)) if term[0] == '"' else term
