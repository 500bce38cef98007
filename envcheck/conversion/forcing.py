"""Every layer's own error in one run: each tensor is computed from the reference's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.calls import INPUT
from envcheck.conversion.graphs import Injection
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.conversion.stores import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.conversion.alignment import Match
    from envcheck.conversion.calls import Port
    from envcheck.conversion.tracing import Comparison

__all__ = ["force", "local_errors"]

_SEGMENT = 64
"""Nodes that run together; their boundary values pass through a store."""


def local_errors(comparison: Comparison, matches: Mapping[Port, Match]) -> dict[Port, float]:
    """Return the relative error of each matched value, given reference values before it.

    Empty where the candidate's runtime cannot inject, or fails.
    """
    store = Store()
    try:
        injections = force(comparison, matches, store)
        return {port: error for port, (_, error) in injections.items() if error is not None}
    finally:
        store.close()


def force(
    comparison: Comparison, matches: Mapping[Port, Match], store: Store
) -> dict[Port, tuple[Injection, float | None]]:
    """Run the candidate once with every matched tensor replaced where it is read.

    Puts what it computes into the store, and returns what was injected for each port, with the
    relative error of what stood there. Empty as `local_errors` is.
    """
    graph = comparison.candidate.graph
    if graph is None or not comparison.candidate.parts:
        return {}
    owners: dict[str, Port] = {}
    for port, match in matches.items():
        if port.call != INPUT and match.tensor in graph.maker and _held(comparison, port, match):
            owners.setdefault(match.tensor, port)
    given = {port: _injection(comparison, port, matches[port]) for port in owners.values()}
    try:
        _run(comparison, list(given.values()), store)
    except Failure:
        return {}
    found: dict[Port, tuple[Injection, float | None]] = {}
    for name, port in owners.items():
        error = None
        if name in store:
            seen = store.get(name)
            wanted = matches[port].layout.apply(comparison.recording.value(port), seen.shape)
            error = relative_error(seen, wanted)
        found[port] = (given[port], error)
    return found


def _held(comparison: Comparison, port: Port, match: Match) -> bool:
    """Return whether the plain run gave a tensor, in the size of the reference's value."""
    if match.tensor not in comparison.store:
        return False
    return bool(comparison.store.get(match.tensor).size == comparison.recording.value(port).size)


def _injection(comparison: Comparison, port: Port, match: Match) -> Injection:
    seen = comparison.store.get(match.tensor)
    wanted = match.layout.apply(comparison.recording.value(port), seen.shape)
    return Injection(tensor=match.tensor, value=wanted.astype(seen.dtype))


def _run(comparison: Comparison, injections: list[Injection], store: Store) -> None:
    graph = comparison.candidate.graph
    assert graph is not None
    alive = [
        number
        for number, node in enumerate(graph.nodes)
        if all(name in comparison.store for name in node.output if name)
    ]
    by_tensor = {injection.tensor: injection for injection in injections}
    for name, value in comparison.feeds.items():
        store.put(name, value)
    for start in range(0, len(alive), _SEGMENT):
        numbers = alive[start : start + _SEGMENT]
        wanted = [name for n in numbers for name in graph.nodes[n].output if name]
        read = {name for number in numbers for name in graph.reads(number)}
        used = [by_tensor[name] for name in sorted(read & set(by_tensor))]
        feeds = {name: store.get(name) for name in graph.boundary(numbers) if name not in by_tensor}
        comparison.runs += start == 0
        for name, value in comparison.candidate.run_part(numbers, wanted, feeds, used).items():
            store.put(name, value)
