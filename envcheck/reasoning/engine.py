"""The built-in engine: stratified, semi-naive forward chaining that keeps every firing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reasoning.inference import Inference
from envcheck.reasoning.join import Row, Slots, Tables, project, solve, start
from envcheck.reasoning.store import FactBase, Pair, Table
from envcheck.reasoning.strata import groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.reasoning.implication import Body, Implication, Pattern

__all__ = ["infer"]

_Delta = dict[str, list[Pair]]


def infer(base: FactBase, rules: Iterable[Implication]) -> Inference:
    """Return everything that `rules` derive from `base`, which stays as it is.

    Rules run in strata: a negated pattern is tested once all rules that could match it are
    done. Raises RuleError for a negation cycle.
    """
    ordered = sorted(rules, key=lambda rule: rule.key)
    tables = dict(base.tables)
    for predicate in {p for rule in ordered for _, p, _ in rule.heads}:
        tables[predicate] = tables[predicate].copy() if predicate in tables else Table()
    fired: list[tuple[Implication, list[Row]]] = []
    for group in groups(ordered):
        if group.recursive:
            fired.extend(_run_recursive(tables, group.implications))
            continue
        for rule in group.implications:
            rows = _run(tables, rule)
            if rows:
                _assert_heads(tables, rule, rows, {})
                fired.append((rule, rows))
    return Inference(base, tables, fired)


def _run(tables: dict[str, Table], rule: Implication) -> list[Row]:
    for subject, predicate, object_ in rule.patterns:
        table = tables.get(predicate)
        if table is None or not table.pairs:
            return []
        if subject[0] != "?" and object_[0] != "?" and (subject, object_) not in table.pairs:
            return []
    return _complete(tables, rule, list(rule.patterns), [()], {})


def _run_recursive(
    tables: dict[str, Table], rules: list[Implication]
) -> list[tuple[Implication, list[Row]]]:
    """Run rules that feed each other, from the second round on only on what is new."""
    seen: list[dict[Row, None]] = [{} for _ in rules]
    delta: _Delta = {}
    for rule, rows_seen in zip(rules, seen, strict=True):
        rows = _run(tables, rule)
        rows_seen.update(dict.fromkeys(rows))
        _assert_heads(tables, rule, rows, delta)
    while delta:
        news: _Delta = {}
        for rule, rows_seen in zip(rules, seen, strict=True):
            rows = [row for row in _run_on(tables, rule, delta) if row not in rows_seen]
            if rows:
                rows_seen.update(dict.fromkeys(rows))
                _assert_heads(tables, rule, rows, news)
        delta = news
    return [(rule, list(rows)) for rule, rows in zip(rules, seen, strict=True) if rows]


def _run_on(tables: Tables, rule: Implication, delta: _Delta) -> list[Row]:
    """Return the rows in which at least one pattern matches a new fact."""
    found: list[Row] = []
    for i, pattern in enumerate(rule.patterns):
        pairs = delta.get(pattern[1])
        if pairs:
            rows, slots = start(pairs, pattern)
            if rows:
                others = [*rule.patterns[:i], *rule.patterns[i + 1 :]]
                found += _complete(tables, rule, others, rows, slots)
    return found


def _complete(
    tables: Tables, rule: Implication, patterns: list[Pattern], rows: list[Row], slots: Slots
) -> list[Row]:
    rows = solve(tables, rule, patterns, rows, slots)
    for body in rule.negations:
        if rows:
            rows = _without_match(tables, body, rows, slots)
    return project(rows, slots, rule.variable_order) if rows else rows


def _without_match(tables: Tables, body: Body, rows: list[Row], slots: Slots) -> list[Row]:
    """Return the rows for which nothing matches the negated body."""
    shared = tuple(name for name in body.mentioned() if name in slots)
    keys = project(rows, slots, shared)
    inner = {name: i for i, name in enumerate(shared)}
    found = solve(tables, body, list(body.patterns), list(dict.fromkeys(keys)), inner)
    if not found:
        return rows
    matched = set(project(found, inner, shared))
    return [row for row, key in zip(rows, keys, strict=True) if key not in matched]


def _assert_heads(
    tables: dict[str, Table], rule: Implication, rows: list[Row], delta: _Delta
) -> None:
    """Add the heads of each row; collects what is new by predicate."""
    place = {name: i for i, name in enumerate(rule.variable_order)}
    for subject, predicate, object_ in rule.heads:
        add = tables[predicate].add
        i, j = place.get(subject, -1), place.get(object_, -1)
        new = [
            pair
            for row in rows
            if add(pair := (subject if i < 0 else row[i], object_ if j < 0 else row[j]))
        ]
        if new:
            delta.setdefault(predicate, []).extend(new)
