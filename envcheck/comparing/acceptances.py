"""Waivers and baseline entries as facts: which rule each accepts, and which subjects it covers.

Globs and normalised values are matched here; whether a finding is silenced is for the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from envcheck.comparing.graph import Acceptance, Graph
from envcheck.comparing.subjects import subject_of, values_of
from envcheck.policy.baseline import Baseline, note_of
from envcheck.policy.model import Waiver

__all__ = ["add_acceptances"]

_NO_SUBJECTS = frozenset({"rule", "role", "ec"})
_ANY = "any fact"


def add_acceptances(graph: Graph, running: Iterable[str], *, strict: bool) -> None:
    """Add the facts about waivers and baseline, and about the rules that they may be for."""
    policy = graph.policy
    if not policy.accepts:
        return
    for rule in sorted(running):
        graph.put_value(f"rule:{rule}", "runs", True)
    if strict:
        graph.put("env:run", "strictness", "ec:strict")
    subjects = _subjects(graph)
    for waiver in policy.waivers:
        _add_waiver(graph, waiver, subjects)
    if policy.baseline is not None:
        _add_baseline(graph, policy.baseline, subjects)


def _subjects(graph: Graph) -> dict[str, list[str]]:
    """Return the nodes that a rule may fire on, by what they speak of."""
    found: dict[str, list[str]] = {}
    nodes = {subject for table in graph.base.tables.values() for subject, _ in table.pairs}
    for node in sorted(nodes):
        if node.partition(":")[0] not in _NO_SUBJECTS:
            found.setdefault(subject_of(node), []).append(node)
    return found


def _add_waiver(graph: Graph, waiver: Waiver, subjects: Mapping[str, list[str]]) -> None:
    node = f"waiver:{waiver.rule}/{waiver.fact or '*'}"
    source = f"policy:{node}"
    expired = graph.policy.day > waiver.expires
    graph.put(node, "acceptance", "ec:waiver", source)
    graph.put(node, "accepts", f"rule:{waiver.rule}", source)
    graph.put(node, "validity", "ec:expired" if expired else "ec:active", source)
    graph.put_value(node, "waivedRule", waiver.rule, source)
    graph.put_value(node, "waivedFact", waiver.fact or _ANY, source)
    graph.put_value(node, "reason", waiver.reason, source)
    graph.put_value(node, "expires", waiver.expires.isoformat(), source)
    place, line = _split(waiver.place)
    graph.acceptances[node] = Acceptance(note=waiver.note, place=place, line=line, baselined=False)
    if not waiver.fact:
        graph.put_value(node, "coversAll", True, source)
        return
    for subject, nodes in subjects.items():
        if fnmatchcase(subject, waiver.fact):
            for covered in nodes:
                graph.put(node, "covers", covered, source)


def _add_baseline(graph: Graph, baseline: Baseline, subjects: Mapping[str, list[str]]) -> None:
    note = note_of(baseline.place)
    lines = baseline.lines or (None,) * len(baseline.entries)
    for entry, line in zip(baseline.entries, lines, strict=True):
        values = (entry.train, entry.deploy)
        node = f"baseline-entry:{entry.rule}/{entry.subject}/{'/'.join(values)}"
        source = f"policy:{node}"
        graph.put(node, "acceptance", "ec:baselined", source)
        graph.put(node, "accepts", f"rule:{entry.rule}", source)
        graph.put(node, "validity", "ec:active", source)
        graph.put_value(node, "waivedRule", entry.rule, source)
        graph.put_value(node, "waivedFact", entry.subject, source)
        graph.acceptances[node] = Acceptance(
            note=note, place=baseline.place, line=line, baselined=True
        )
        for covered in subjects.get(entry.subject, ()):
            if values_of(graph.base, covered) == values:
                graph.put(node, "covers", covered, source)


def _split(place: str) -> tuple[str, int | None]:
    """Return file and line of a place such as `envcheck.toml:12`."""
    file, colon, line = place.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (place, None)
