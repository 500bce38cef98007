"""The same rules as SPARQL on pyoxigraph: semi-naive, one SELECT per rule and new pattern.

Run as a process: reads N-Triples and compiled rules, prints how many facts are new.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyoxigraph as ox  # noqa: TID253

from envcheck.reasoning.implication import Body, Implication
from envcheck.reasoning.strata import groups
from envcheck.reasoning.terms import to_n3

_OPERATORS = {
    "math:equalTo": "=", "math:notEqualTo": "!=", "math:greaterThan": ">", "math:lessThan": "<",
    "math:notLessThan": ">=", "math:notGreaterThan": "<=",
}  # fmt: skip

Delta = dict[str, list[tuple[Any, Any]]]


def main(facts: str, rules: str) -> None:
    """Load, infer, print the number of new facts."""
    store = ox.Store()
    with open(facts, "rb") as file:
        store.bulk_load(file.read(), format=ox.RdfFormat.N_TRIPLES)
    with open(rules, encoding="utf-8") as file:
        implications = [Implication.from_data(item) for item in json.load(file)]
    before = len(store)
    for group in groups(implications):
        delta = _merge(_run(store, rule, _select(rule)) for rule in group.implications)
        while group.recursive and delta:
            delta = _merge(
                _run(store, rule, _select(rule, i, delta[pattern[1]]))
                for rule in group.implications
                for i, pattern in enumerate(rule.patterns)
                if pattern[1] in delta
            )
    print(len(store) - before)


def _run(store: Any, rule: Implication, query: str) -> Delta:
    new: Delta = {}
    for solution in store.query(query):
        for subject, predicate, object_ in rule.heads:
            s, p, o = (_node(term, solution) for term in (subject, predicate, object_))
            quad = ox.Quad(s, p, o)
            if quad not in store:
                store.add(quad)
                new.setdefault(predicate, []).append((s, o))
    return new


def _node(term: str, solution: Any) -> Any:
    return solution[term[1:]] if term[0] == "?" else ox.NamedNode(to_n3(term)[1:-1])


def _merge(deltas: Any) -> Delta:
    merged: Delta = {}
    for delta in deltas:
        for predicate, pairs in delta.items():
            merged.setdefault(predicate, []).extend(pairs)
    return merged


def _select(rule: Implication, at: int = -1, pairs: list[tuple[Any, Any]] | None = None) -> str:
    parts = [_triple(pattern) for i, pattern in enumerate(rule.patterns) if i != at]
    if pairs is not None:
        subject, _, object_ = rule.patterns[at]
        rows = " ".join(f"({s} {o})" for s, o in pairs)
        parts.insert(0, f"VALUES ({_variable(subject)} {_variable(object_)}) {{ {rows} }}")
    parts += [_filter(comparison) for comparison in rule.comparisons]
    parts += [f"FILTER NOT EXISTS {{ {_group(body)} }}" for body in rule.negations]
    return f"SELECT {' '.join(rule.variable_order) or '*'} WHERE {{ {' '.join(parts)} }}"


def _group(body: Body) -> str:
    return " ".join(_triple(pattern) for pattern in body.patterns)


def _variable(term: str) -> str:
    if term[0] != "?":
        raise ValueError("the benchmark's recursive patterns have variables at both ends")
    return term


def _triple(pattern: tuple[str, str, str]) -> str:
    return " ".join(to_n3(term) for term in pattern) + " ."


def _filter(comparison: tuple[str, str, str]) -> str:
    left, built_in, right = to_n3(comparison[0]), comparison[1], to_n3(comparison[2])
    if built_in in _OPERATORS:
        return f"FILTER({left} {_OPERATORS[built_in]} {right})"
    same = f"sameTerm({left}, {right})"
    return f"FILTER({same if built_in == 'log:equalTo' else '!' + same})"


if __name__ == "__main__":
    main(*sys.argv[1:])
