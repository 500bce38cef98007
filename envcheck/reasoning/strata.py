"""The order in which implications run: after all that can derive what they read.

One implication depends on another if a head of the other can match one of its patterns:
same predicate, and no two different constants at one place. So `?x ec:violates rule:ENV001`
in a body waits for ENV001 alone, not for every rule that reports a violation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envcheck.reasoning.implication import Implication, Pattern

__all__ = ["Group", "groups"]


class Group:
    """Implications that depend on each other, or a single one; `recursive` if they do.

    `level` counts the negations below: 0 reads no negated pattern, directly or indirectly.
    """

    __slots__ = ("implications", "level", "recursive")

    def __init__(self, implications: list[Implication], recursive: bool, level: int) -> None:
        self.implications = implications
        self.recursive = recursive
        self.level = level


def groups(implications: Sequence[Implication]) -> list[Group]:
    """Return the groups in an order in which each can run to its end before the next.

    Raises RuleError for a cycle through a negated pattern: it would have no clear meaning.
    """
    heads = _heads_by_predicate(implications)
    positive = [_producers(implication.patterns, heads) for implication in implications]
    negative = [
        _producers((p for body in implication.negations for p in body.patterns), heads)
        for implication in implications
    ]
    edges = [sorted(p | n) for p, n in zip(positive, negative, strict=True)]
    found: list[Group] = []
    level_of = [0] * len(implications)
    for component in _components(edges):
        members = set(component)
        if any(negative[i] & members for i in component):
            raise _cycle_error(implications, component, edges, negative)
        level = 0
        for i in component:
            level = max(level, 1 if implications[i].negations else 0)
            level = max(level, *(level_of[j] for j in edges[i]), 0)
            level = max(level, *(level_of[j] + 1 for j in negative[i]), 0)
        for i in component:
            level_of[i] = level
        recursive = any(positive[i] & members for i in component)
        found.append(Group([implications[i] for i in component], recursive, level))
    return found


_Heads = dict[str, list[tuple[str, str, int]]]


def _heads_by_predicate(implications: Sequence[Implication]) -> _Heads:
    heads: _Heads = {}
    for i, implication in enumerate(implications):
        for subject, predicate, object_ in implication.heads:
            heads.setdefault(predicate, []).append((subject, object_, i))
    return heads


def _producers(patterns: Iterable[Pattern], heads: _Heads) -> set[int]:
    found = set()
    for subject, predicate, object_ in patterns:
        for head_subject, head_object, i in heads.get(predicate, ()):
            if _unifies(subject, head_subject) and _unifies(object_, head_object):
                found.add(i)
    return found


def _unifies(term: str, other: str) -> bool:
    return term == other or term[0] == "?" or other[0] == "?"


def _components(edges: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components, dependencies first (Tarjan, no recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(edges)):
        if root in order:
            continue
        work = [(root, iter(edges[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(edges[successor])))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], order[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    found.append(sorted(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return found


def _cycle_error(
    implications: Sequence[Implication],
    component: list[int],
    edges: list[list[int]],
    negative: list[set[int]],
) -> RuleError:
    members = set(component)
    first = next(i for i in component if negative[i] & members)
    goal = min(negative[first] & members)
    path = _path(goal, first, edges, members)
    names = " → ".join(implications[i].rule for i in [first, *path])
    return RuleError(
        f"negation cycle: {names}",
        place=implications[first].place,
        hint="a rule may not depend on the absence of what it helps to derive; "
        "split the predicate or drop the negated pattern",
    )


def _path(start: int, goal: int, edges: list[list[int]], members: set[int]) -> list[int]:
    """Return a shortest path of dependencies from `start` to `goal`, both included."""
    paths = [[start]]
    seen = {start}
    for path in paths:
        if path[-1] == goal:
            return path
        for successor in edges[path[-1]]:
            if successor in members and successor not in seen:
                seen.add(successor)
                paths.append([*path, successor])
    raise AssertionError("a component is connected")
