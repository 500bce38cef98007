"""Joins: rows of bindings, extended one pattern at a time over whole sets of rows.

A row is a tuple of terms; `slots` says at which place of the row each variable stands. The
next pattern is always the one with the fewest expected matches per row, counted on the
tables as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING

from envcheck.reasoning.built_ins import TESTS
from envcheck.reasoning.store import NO_TABLE, Pair, Table

if TYPE_CHECKING:
    from envcheck.reasoning.implication import Body, Comparison, Membership, Pattern

__all__ = ["Row", "Slots", "Tables", "project", "solve", "start"]

Row = tuple[str, ...]
Slots = dict[str, int]
Tables = Mapping[str, Table]


def solve(
    tables: Tables,
    body: Body,
    patterns: list[Pattern],
    rows: list[Row],
    slots: Slots,
) -> list[Row]:
    """Extend `rows` by `patterns` and by the tests of `body`; adds to `slots`.

    Consumes `patterns`, a list of those patterns of `body` that `rows` does not cover yet.
    """
    tests = list(body.comparisons)
    members = list(body.memberships)
    while rows and (patterns or tests or members):
        if tests or members:
            rows = _filter(rows, slots, tests, members)
        if patterns and rows:
            pattern = _cheapest(patterns, slots, tables)
            patterns.remove(pattern)
            rows = _extend(rows, slots, pattern, tables.get(pattern[1], NO_TABLE))
        elif members and rows:
            rows = _enumerate(rows, slots, *members.pop())
        elif tests and rows:
            raise ValueError(f"unbound variable in {tests[0]}")
    return rows


def start(pairs: Iterable[Pair], pattern: Pattern) -> tuple[list[Row], Slots]:
    """Return the rows and slots of matching one pattern against bare pairs."""
    subject, _, object_ = pattern
    if subject[0] == "?":
        if object_[0] != "?":
            return [(s,) for s, o in pairs if o == object_], {subject: 0}
        if object_ == subject:
            return [(s,) for s, o in pairs if s == o], {subject: 0}
        return list(pairs), {subject: 0, object_: 1}
    if object_[0] != "?":
        return [() for pair in pairs if pair == (subject, object_)], {}
    return [(o,) for s, o in pairs if s == subject], {object_: 0}


def project(rows: list[Row], slots: Slots, order: tuple[str, ...]) -> list[Row]:
    """Return the rows with their terms in the given order of variables."""
    places = [slots[name] for name in order]
    if places == list(range(len(slots))):
        return rows
    if len(places) > 1:
        return list(map(itemgetter(*places), rows))
    if not places:
        return [()] * len(rows)
    place = places[0]
    return [(row[place],) for row in rows]


def _cheapest(patterns: list[Pattern], slots: Slots, tables: Tables) -> Pattern:
    if len(patterns) == 1:
        return patterns[0]
    best, lowest = patterns[0], float("inf")
    for pattern in patterns:
        cost = _matches_per_row(pattern, slots, tables.get(pattern[1], NO_TABLE))
        if cost < lowest:
            best, lowest = pattern, cost
            if cost <= 0:
                break
    return best


def _matches_per_row(pattern: Pattern, slots: Slots, table: Table) -> float:
    """Estimate how many matches each row has; at most 0 for a pattern without free places."""
    subject, _, object_ = pattern
    bound_subject, bound_object = subject in slots, object_ in slots
    fixed_subject = bound_subject or subject[0] != "?"
    fixed_object = bound_object or object_[0] != "?"
    if fixed_subject and fixed_object:
        return 0 if bound_subject or bound_object else -1
    if fixed_subject:
        if bound_subject:
            return len(table.pairs) / (len(table.objects) or 1)
        return table.count(subject, None)
    if fixed_object:
        if bound_object:
            return len(table.pairs) / (len(table.subjects) or 1)
        return table.count(None, object_)
    return len(table.pairs)


def _extend(rows: list[Row], slots: Slots, pattern: Pattern, table: Table) -> list[Row]:
    subject, _, object_ = pattern
    if subject in slots:
        return _from_bound_subject(rows, slots, slots[subject], object_, table)
    if subject[0] != "?":
        return _from_constant_subject(rows, slots, subject, object_, table)
    return _free_subject(rows, slots, pattern, table)


def _from_bound_subject(
    rows: list[Row], slots: Slots, i: int, object_: str, table: Table
) -> list[Row]:
    pairs = table.pairs
    if object_ in slots:
        j = slots[object_]
        return [row for row in rows if (row[i], row[j]) in pairs]
    if object_[0] != "?":
        return [row for row in rows if (row[i], object_) in pairs]
    slots[object_] = len(slots)
    get = table.objects.get
    return [(*row, o) for row in rows for o in get(row[i], ())]


def _from_constant_subject(
    rows: list[Row], slots: Slots, subject: str, object_: str, table: Table
) -> list[Row]:
    pairs = table.pairs
    if object_ in slots:
        j = slots[object_]
        return [row for row in rows if (subject, row[j]) in pairs]
    if object_[0] != "?":
        return rows if (subject, object_) in pairs else []
    slots[object_] = len(slots)
    objects = table.objects.get(subject, ())
    return [(*row, o) for row in rows for o in objects]


def _free_subject(rows: list[Row], slots: Slots, pattern: Pattern, table: Table) -> list[Row]:
    subject, _, object_ = pattern
    width = len(slots)
    slots[subject] = width
    if object_ == subject:
        loops = [s for s, o in table.pairs if s == o]
        return [(*row, s) for row in rows for s in loops]
    if object_ in slots:
        j = slots[object_]
        get = table.subjects.get
        return [(*row, s) for row in rows for s in get(row[j], ())]
    if object_[0] != "?":
        subjects = table.subjects.get(object_, ())
        return [(*row, s) for row in rows for s in subjects]
    slots[object_] = width + 1
    pairs = table.pairs
    return [row + pair for row in rows for pair in pairs]


def _filter(
    rows: list[Row], slots: Slots, tests: list[Comparison], members: list[Membership]
) -> list[Row]:
    """Apply, and take out of the lists, what has all its variables bound."""
    for test in [t for t in tests if _is_bound(t[0], slots) and _is_bound(t[2], slots)]:
        tests.remove(test)
        rows = _compare(rows, slots, test)
    for member in [m for m in members if _is_bound(m[0], slots)]:
        members.remove(member)
        term, items = member
        if term in slots:
            i, allowed = slots[term], frozenset(items)
            rows = [row for row in rows if row[i] in allowed]
        elif term not in items:
            rows = []
    return rows


def _is_bound(term: str, slots: Slots) -> bool:
    return term in slots or term[0] != "?"


def _compare(rows: list[Row], slots: Slots, comparison: Comparison) -> list[Row]:
    left, built_in, right = comparison
    test = TESTS[built_in]
    if left in slots:
        i = slots[left]
        if right in slots:
            j = slots[right]
            return [row for row in rows if test(row[i], row[j])]
        return [row for row in rows if test(row[i], right)]
    if right in slots:
        j = slots[right]
        return [row for row in rows if test(left, row[j])]
    return rows if test(left, right) else []


def _enumerate(rows: list[Row], slots: Slots, variable: str, items: tuple[str, ...]) -> list[Row]:
    """Bind a variable that only a membership mentions to each of its constants."""
    slots[variable] = len(slots)
    return [(*row, item) for row in rows for item in items]
