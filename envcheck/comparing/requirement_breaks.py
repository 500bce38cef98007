"""Requires-Dist lines and Requires-Python that the deploy environment does not meet."""

from __future__ import annotations

from envcheck.comparing.graph import DEPLOY, Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.requirements import Requirement
from envcheck.comparing.spellings import python_version
from envcheck.comparing.tables import variant_group
from envcheck.versions import satisfies

__all__ = ["add_requirement_breaks"]

_MISSING = "ec:missing"
_UNSATISFIED = "ec:unsatisfied"


def add_requirement_breaks(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add a node for every requirement of a deployed package that does not hold there."""
    _add_readability(graph, deploy)
    if deploy.intended:
        return
    for name in sorted(deploy.packages):
        _add_python_break(graph, train, deploy, name)
        for needed in _first_broken(deploy, name):
            _add_break(graph, train, deploy, name, needed)


def _add_readability(graph: Graph, deploy: Inventory) -> None:
    """Say whether requirements can be judged at all."""
    sources = ("deploy:python.packages", "deploy:python.version", "deploy:os.system")
    if deploy.intended:
        graph.put(DEPLOY, "requirements", "ec:inapplicable", sources[0])
    elif deploy.markers is None or not deploy.complete:
        graph.put(DEPLOY, "requirements", "ec:undetermined", *sources)
    else:
        graph.put(DEPLOY, "requirements", "ec:readable", *sources)


def _status(inventory: Inventory, needed: Requirement) -> str | None:
    """Return how a requirement is broken, or None when it holds or cannot be decided."""
    target = inventory.packages.get(needed.name)
    if target is None:
        if needed.name in inventory.unread or not inventory.complete:
            return None
        return None if _served_by_variant(inventory, needed) else _MISSING
    if target.version is None or not needed.specifier:
        return None
    return _UNSATISFIED if satisfies(target.version, needed.specifier) is False else None


def _served_by_variant(inventory: Inventory, needed: Requirement) -> bool:
    """Return whether an installed variant provides the import that is required."""
    return variant_group(needed.name) is not None and inventory.stand_in(needed.name) is not None


def _first_broken(inventory: Inventory, name: str) -> list[Requirement]:
    """Return the broken requirements of a package, one for each package that it needs."""
    out: dict[str, Requirement] = {}
    for needed in inventory.requirements(name):
        if needed.name not in out and _status(inventory, needed) is not None:
            out[needed.name] = needed
    return [out[key] for key in sorted(out)]


def _add_break(
    graph: Graph, train: Inventory, deploy: Inventory, name: str, needed: Requirement
) -> None:
    node = f"req:{name}/{needed.name}"
    target = deploy.packages.get(needed.name)
    other = deploy.source(needed.name) if target else "deploy:python.packages"
    sources = (deploy.source(name), other)
    graph.put(node, "requirement", str(_status(deploy, needed)), *sources)
    graph.put(node, "requires", f"pkg:{needed.name}", sources[0])
    graph.put_value(node, "name", needed.name, sources[0])
    graph.put_value(node, "requiredByName", name, sources[0])
    graph.put_value(node, "specifier", needed.specifier or "any version", sources[0])
    graph.put_value(node, "wanted", f"{needed.name}{needed.specifier}", sources[0])
    if target is not None:
        graph.put_value(node, "deployVersion", target.full_version, other)
    reach = "onPath" if name in deploy.on_path else _off_path(deploy, name)
    graph.put(node, "reach", f"ec:{reach}", sources[0])
    how = _status(deploy, needed)
    before = (one for one in _first_broken(train, name) if one.name == needed.name)
    if any(_status(train, one) == how for one in before):
        graph.put_value(node, "preExisting", True, train.source(name))


def _off_path(inventory: Inventory, name: str) -> str:
    return "offPath" if inventory.is_tool(name) else "unproven"


def _add_python_break(graph: Graph, train: Inventory, deploy: Inventory, name: str) -> None:
    """Add a package whose Requires-Python excludes the deployed interpreter."""
    package = deploy.packages[name]
    wanted = str(package.value.get("requires_python", ""))
    version = deploy.fingerprint.fact("python.version")
    if not wanted or not version.is_ok or not _excluded(version.value, wanted):
        return
    if deploy.is_tool(name):
        return
    node = f"range:{name}"
    sources = (deploy.source(name), "deploy:python.version")
    graph.put_value(node, "pythonRange", wanted, *sources)
    graph.put_value(node, "name", name, sources[0])
    graph.put_value(node, "python", version.value, sources[1])
    there = train.packages.get(name)
    python = train.fingerprint.fact("python.version")
    if there is not None and python.is_ok:
        old = str(there.value.get("requires_python", ""))
        if old and _excluded(python.value, old):
            graph.put_value(node, "preExisting", True, train.source(name))


def _excluded(python: str, wanted: str) -> bool:
    return satisfies(python_version(python), wanted) is False
