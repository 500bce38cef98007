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

__all__ = ["local_errors"]

_SEGMENT = 64
"""Nodes that run together; their boundary values pass through a store."""


def local_errors(comparison: Comparison, matches: Mapping[Port, Match]) -> dict[Port, float]:
    """Return the relative error of each matched value, given reference values before it.

    Empty where the candidate's runtime cannot inject, or fails.
    """
    graph = comparison.candidate.graph
    if graph is None:
        return {}
    owners: dict[str, Port] = {}
    for port, match in matches.items():
        if port.call != INPUT and match.tensor in graph.maker and comparison.has(match.tensor):
            owners.setdefault(match.tensor, port)
    injections = [_injection(comparison, port, matches[port]) for port in owners.values()]
    store = Store()
    try:
        _run(comparison, injections, store)
        found = {}
        for name, port in owners.items():
            if name in store:
                seen = store.get(name)
                wanted = matches[port].layout.apply(comparison.recording.value(port), seen.shape)
                found[port] = relative_error(seen, wanted)
    except Failure:
        return {}
    finally:
        store.close()
    return found


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
        if all(comparison.has(name) for name in node.output if name)
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
