"""Put findings under the root cause that explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Finding

__all__ = ["Group", "bundle", "fold"]


@record(kw_only=True)
class Group:
    """A finding that nothing shown explains, and what follows from it, in rank order."""

    root: Finding
    consequences: tuple[Finding, ...] = ()


def fold(findings: Iterable[Finding]) -> list[Group]:
    """Return the findings as groups, in the order of their roots.

    A finding whose explanation is not among them stands on its own, and so does one that,
    round a circle, would explain itself.
    """
    listed = list(findings)
    by_name = {_name(finding): finding for finding in listed}
    below: dict[str, list[Finding]] = {}
    roots = []
    for finding in listed:
        top = _top(finding, by_name)
        if top is finding:
            roots.append(finding)
        else:
            below.setdefault(_name(top), []).append(finding)
    return [Group(root=root, consequences=tuple(below.get(_name(root), ()))) for root in roots]


def bundle(groups: Iterable[Group]) -> list[list[Group]]:
    """Return the groups with those together whose roots say the same of different subjects.

    Such roots are of one rule and severity and share the explanation and the advice.
    """
    bundles: dict[tuple[str, str, str, str], list[Group]] = {}
    for group in groups:
        root = group.root
        key = (root.rule, root.severity, root.detail, root.fix.text)
        bundles.setdefault(key, []).append(group)
    return list(bundles.values())


def _name(finding: Finding) -> str:
    return f"{finding.rule} {finding.subject}"


def _top(finding: Finding, by_name: dict[str, Finding]) -> Finding:
    """Return the last explanation in the chain, or the finding itself when it has none."""
    seen = {_name(finding)}
    top = finding
    while top.explained_by in by_name:
        if top.explained_by in seen:
            return finding
        seen.add(top.explained_by)
        top = by_name[top.explained_by]
    return top
