"""Run as much of a graph as runs, and tell which nodes fail on values that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.graphs import Graph, Injection
    from envcheck.conversion.runtimes.protocol import Candidate
    from envcheck.conversion.stores import Store

__all__ = ["failing_nodes", "run_survivors"]

MOST_FAILING = 8
"""Failing nodes after which the rest is not tried."""


def failing_nodes(candidate: Candidate, store: Store) -> list[int]:
    """Run the nodes that have no value yet and put what they give into the store.

    Returns the nodes that fail although everything they read is there, in execution order. An
    engine names the node at which it stops, but not always, and never inside a loop.
    """
    graph = candidate.graph
    if graph is None or not candidate.parts:
        return []
    left = [n for n in range(len(graph.nodes)) if not _has_all(graph, n, store.__contains__)]
    values, failing = _one_by_one(candidate, graph, left, store.__contains__, store.get, ())
    for name, value in values.items():
        store.put(name, value)
    return failing


def run_survivors(
    candidate: Candidate,
    numbers: Sequence[int],
    has: Callable[[str], bool],
    value: Callable[[str], Array],
    injections: Sequence[Injection],
) -> tuple[dict[str, Array], list[int]]:
    """Run some nodes under injections; return values by tensor, and the nodes that fail.

    Nodes that depend on a tensor that neither has a value nor gets one are left out.
    """
    graph = candidate.graph
    assert graph is not None
    alive: list[int] = []
    known: set[str] = set()
    for number in numbers:
        inputs = (n for n in graph.reads(number) if n not in graph.initialisers)
        made_here = {n for other in numbers for n in graph.nodes[other].output if n}
        if all(n in known or (n not in made_here and has(n)) for n in inputs):
            alive.append(number)
            known.update(n for n in graph.nodes[number].output if n)
    feeds = {name: value(name) for name in graph.boundary(alive) if has(name)}
    try:
        return candidate.run_part(alive, sorted(known), feeds, injections), []
    except Failure:
        return _one_by_one(candidate, graph, alive, has, value, injections)


def _one_by_one(
    candidate: Candidate,
    graph: Graph,
    numbers: Iterable[int],
    has: Callable[[str], bool],
    value: Callable[[str], Array],
    injections: Sequence[Injection],
) -> tuple[dict[str, Array], list[int]]:
    numbers = list(numbers)
    stale = {name for number in numbers for name in graph.nodes[number].output if name}
    values: dict[str, Array] = {}
    failing: list[int] = []
    for number in numbers:
        names = graph.boundary([number])
        if not all(name in values or (name not in stale and has(name)) for name in names):
            continue
        feeds = {name: values[name] if name in values else value(name) for name in names}
        wanted = [name for name in graph.nodes[number].output if name]
        try:
            values.update(candidate.run_part([number], wanted, feeds, injections))
        except Failure:
            failing.append(number)
            if len(failing) >= MOST_FAILING:
                break
    return values, failing


def _has_all(graph: Graph, number: int, has: Callable[[str], bool]) -> bool:
    return all(has(name) for name in graph.nodes[number].output if name)
