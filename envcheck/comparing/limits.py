"""What the policy allows, requires and forbids, as facts about the two environments."""

from __future__ import annotations

from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory, Package
from envcheck.facts import NOT_APPLICABLE
from envcheck.policy.model import Wanted
from envcheck.versions import satisfies

__all__ = ["add_limits"]

_PYTHON = "python.version"
_LIST = "deploy:python.packages"
_GPU = ("gpu.devices", "gpu.visible")
_GPU_NODE = "gpu:deploy"
_NO_GPU = "none"


def add_limits(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add the facts that the rules about the policy read; none for an empty policy."""
    policy = graph.policy
    if policy.drift:
        _add_drifts(graph, train, deploy)
    roots = tuple(Wanted(name=name) for name in policy.roots)
    for wanted in policy.require:
        _add_required(graph, deploy, wanted, f"policy:require.{wanted.name}")
    for root in roots:
        if all(root.name != wanted.name for wanted in policy.require):
            _add_required(graph, deploy, root, f"policy:roots.{root.name}")
    for banned in policy.forbid:
        _add_forbidden(graph, deploy, banned)
    if policy.require_gpu:
        _add_gpu(graph, deploy)
    for rule in sorted(policy.severity):
        level = policy.severity[rule]
        graph.put(f"rule:{rule}", "policySeverity", f"ec:{level}", f"policy:severity.{rule}")
    if "fl4deep" in policy.profiles:
        _add_texts(graph, train, deploy)


def _add_drifts(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how far each package of both sides, and Python, may drift."""
    drift = graph.policy.drift
    for name in sorted(train.packages):
        if deploy.packages.get(name) or deploy.stand_in(name):
            keys = (name, f"role:{train.role(name)}")
            key = next((key for key in keys if key in drift), None)
            if key is not None:
                _add_drift(graph, f"pkg:{name}", name, key, train.source(name))
    sides = [side.fingerprint.fact(_PYTHON) for side in (train, deploy)]
    if "python" in drift and all(fact.state != NOT_APPLICABLE for fact in sides):
        _add_drift(graph, f"fact:{_PYTHON}", "Python", "python", f"train:{_PYTHON}")


def _add_drift(graph: Graph, node: str, name: str, key: str, source: str) -> None:
    limit = f"ec:drift{graph.policy.drift[key].capitalize()}"
    graph.put(node, "allowedDrift", limit, source, f"policy:drift.{key}")
    graph.put_value(node, "name", name, source)


def _add_required(graph: Graph, deploy: Inventory, wanted: Wanted, source: str) -> None:
    node = f"want:{wanted.name}"
    package = deploy.packages.get(wanted.name) or deploy.stand_in(wanted.name)
    sources = (source, deploy.source(package.name) if package else _open_fact(deploy, wanted.name))
    graph.put(node, "demand", f"ec:{_met(deploy, wanted, package)}", *sources)
    graph.put_value(node, "name", package.name if package else wanted.name, *sources)
    graph.put_value(node, "requirementText", wanted.text, source)
    if package is not None and package.version:
        graph.put_value(node, "deployVersion", package.full_version, sources[1])


def _open_fact(deploy: Inventory, name: str) -> str:
    """Return the fact that says that a package is not there, or why that is not known."""
    return deploy.source(name) if name in deploy.unread else _LIST


def _met(deploy: Inventory, wanted: Wanted, package: Package | None) -> str:
    if package is None:
        known = deploy.complete and wanted.name not in deploy.unread
        return "missing" if known else "undetermined"
    if not wanted.specifier:
        return "met"
    if not package.version:
        return "unversioned"
    fits = satisfies(package.version, wanted.specifier)
    return {True: "met", False: "unsatisfied", None: "unversioned"}[fits]


def _add_forbidden(graph: Graph, deploy: Inventory, banned: Wanted) -> None:
    node, source = f"ban:{banned.name}", f"policy:forbid.{banned.name}"
    package = deploy.packages.get(banned.name)
    sources = (source, deploy.source(banned.name) if package else _open_fact(deploy, banned.name))
    graph.put(node, "banned", f"ec:{_present(deploy, banned, package)}", *sources)
    graph.put_value(node, "name", banned.name, source)
    graph.put_value(node, "requirementText", banned.text, source)
    if package is not None:
        version = package.full_version or package.specifier or "any"
        graph.put_value(node, "deployVersion", version, sources[1])


def _present(deploy: Inventory, banned: Wanted, package: Package | None) -> str:
    if package is None:
        known = deploy.complete and banned.name not in deploy.unread
        return "absent" if known else "undetermined"
    if not banned.specifier:
        return "present"
    fits = satisfies(package.version, banned.specifier) if package.version else None
    return {True: "present", False: "absent", None: "undetermined"}[fits]


def _add_gpu(graph: Graph, deploy: Inventory) -> None:
    """Add whether there is a GPU that a process may use; one that is hidden does not count."""
    devices, visible = (deploy.fingerprint.fact(key) for key in _GPU)
    sources = ("policy:require-gpu", *(f"deploy:{key}" for key in _GPU))
    if devices.state == NOT_APPLICABLE or (devices.is_ok and not devices.value):
        state, seen = "unavailable", "no device"
    elif visible.is_ok and visible.value == _NO_GPU:
        state, seen = "unavailable", "all devices are hidden"
    elif devices.is_ok:
        state, seen = "available", f"{len(devices.value)} of them"
    else:
        state, seen = "undetermined", ""
    graph.put(_GPU_NODE, "gpu", f"ec:{state}", *sources)
    if seen:
        graph.put_value(_GPU_NODE, "has", seen, *sources)


def _add_texts(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add the versions of every package of both sides as they are written."""
    for name in sorted(train.packages.keys() & deploy.packages.keys()):
        here, there = train.packages[name], deploy.packages[name]
        if here.full_version and there.full_version:
            node = f"pkg:{name}"
            graph.put_value(node, "name", name, train.source(name))
            graph.put_value(node, "trainText", here.full_version, train.source(name))
            graph.put_value(node, "deployText", there.full_version, deploy.source(name))
