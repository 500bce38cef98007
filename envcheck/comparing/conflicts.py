"""Installations that contradict themselves: two variants of one import, double metadata."""

from __future__ import annotations

from collections.abc import Iterable

from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory, Package
from envcheck.versions import distance

__all__ = ["add_conflicts"]

_PARTNERS = (("tensorflow-text", "tensorflow"),)
"""Compiled extensions whose minor release is that of the package they extend."""


def add_conflicts(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add imports that two deployed distributions provide, and doubled metadata."""
    _add_partners(graph, train, deploy)
    if deploy.intended:
        return
    before = {group: members for group, members in train.groups.items() if len(members) > 1}
    for group, members in sorted(deploy.groups.items()):
        rivals = _rivals(deploy, members)
        if len(rivals) < 2:
            continue
        node = f"group:{group}"
        sources = [deploy.source(name) for name in rivals]
        listed = f"{', '.join(rivals[:-1])} and {rivals[-1]}"
        graph.put_value(node, "rivals", listed, *sources)
        graph.put_value(node, "rivalNames", " ".join(rivals), *sources)
        graph.put_value(node, "name", group, *sources)
        if set(rivals) <= set(before.get(group, ())):
            graph.put_value(node, "preExisting", True, *(train.source(name) for name in rivals))
    for name, package in sorted(deploy.packages.items()):
        if deploy.is_tool(name):
            continue
        _add_duplicates(graph, train, deploy, name)
        if package.value.get("editable") and not _same_origin(train, deploy, name):
            node = f"editable:{name}"
            graph.put_value(node, "editable", True, deploy.source(name))
            graph.put_value(node, "name", name, deploy.source(name))
            if name in train.packages and train.packages[name].value.get("editable"):
                graph.put_value(node, "preExisting", True, train.source(name))


def _add_partners(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add compiled extensions that are released together with the package they extend."""
    for name, partner in _PARTNERS:
        pair = _partners(deploy, name, partner)
        if pair is None:
            continue
        here, there = pair
        sources = (deploy.source(name), deploy.source(there.name))
        node = f"extension:{name}"
        state = "different" if _releases_differ(pair) else "same"
        graph.put(node, "partnerRelease", f"ec:{state}", *sources)
        graph.put_value(node, "name", name, sources[0])
        graph.put_value(node, "deployVersion", here.version, sources[0])
        graph.put_value(node, "partner", there.name, sources[1])
        graph.put_value(node, "partnerVersion", there.version, sources[1])
        before = _partners(train, name, partner)
        if before is not None and _releases_differ(before):
            old = (train.source(name), train.source(before[1].name))
            graph.put_value(node, "preExisting", True, *old)


def _partners(inventory: Inventory, name: str, partner: str) -> tuple[Package, Package] | None:
    """Return an installed extension and what it extends, both with a version, or None."""
    here, there = inventory.packages.get(name), inventory.packages.get(partner)
    there = there or inventory.stand_in(partner)
    if here is None or there is None or not here.version or not there.version:
        return None
    return here, there


def _releases_differ(pair: tuple[Package, Package]) -> bool:
    return distance(str(pair[0].version), str(pair[1].version)) in ("epoch", "major", "minor")


def _rivals(inventory: Inventory, members: Iterable[str]) -> list[str]:
    """Return the members that write the same files: a stub that requires the other does not."""
    names = sorted(members)
    stubs = {
        name
        for name in names
        for needed in inventory.requirements(name)
        if needed.name in names and needed.name != name
    }
    return [name for name in names if name not in stubs]


def _same_origin(train: Inventory, deploy: Inventory, name: str) -> bool:
    """Return whether both sides name the same commit."""
    there = train.packages.get(name)
    here = deploy.packages[name].value.get("origin_revision")
    return bool(here and there is not None and there.value.get("origin_revision") == here)


def _add_duplicates(graph: Graph, train: Inventory, deploy: Inventory, name: str) -> None:
    package = deploy.packages[name]
    doubles = package.value.get("duplicates") or []
    if not doubles:
        return
    node, source = f"duplicate:{name}", deploy.source(name)
    versions = ", ".join([str(package.version), *map(str, doubles)])
    graph.put_value(node, "duplicateVersions", versions, source)
    graph.put_value(node, "name", name, source)
    if name in train.packages and train.packages[name].value.get("duplicates"):
        graph.put_value(node, "preExisting", True, train.source(name))
