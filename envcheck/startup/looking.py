"""Look at this environment within a budget. CPython 3.9, standard library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from envcheck.catalogue import keys_of
from envcheck.facts import Facts, unknown
from envcheck.probing.run import runners
from envcheck.startup.budget import Budget, OutOfTime

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["Look", "look"]


class Look:
    """The facts that were found, and the probes that the budget did not reach."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        self.late: list[str] = []


def look(host: Host, budget: Budget, names: Iterable[str] | None = None) -> Look:
    """Run the probes (or the named ones) one after the other until the budget is spent.

    What was not reached becomes `unknown`, with the reason.
    """
    found = Look()
    try:
        work = budget.within(lambda: runners(host, names))
    except OutOfTime:
        work = runners(host, [])
        found.late.append("plugins")
    for name, run in work.items():
        try:
            facts = budget.within(run)
        except OutOfTime:
            found.late.append(name)
            facts = _late(name, budget)
        for key, fact in facts.items():
            found.facts.setdefault(key, fact)
    found.facts = dict(sorted(found.facts.items()))
    return found


def _late(name: str, budget: Budget) -> Facts:
    reason = f"timeout: the {budget.seconds:.3g} s for probes ended before probe {name} did"
    keys = [key for key in keys_of(name) if not key.endswith("*")] or [f"probe.{name}"]
    return {key: unknown(reason) for key in keys}
