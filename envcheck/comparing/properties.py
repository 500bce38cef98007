"""Compared properties: one node per fact key that has a counterpart on the other side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import is_intention
from envcheck.comparing.spellings import (
    architecture,
    encoding,
    python_version,
    same_text,
    timezone,
    unordered,
)
from envcheck.facts import NOT_APPLICABLE, Fact
from envcheck.fingerprint import Fingerprint
from envcheck.versions import compare_versions, distance

__all__ = ["COMPARED", "add_properties", "relation_of"]

_TEXT = "text"
_VERSION = "version"
_SET = "set"

COMPARED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "os.system": (_TEXT, same_text),
    "os.release_id": (_TEXT, same_text),
    "os.release_version": (_TEXT, same_text),
    "os.libc_family": (_TEXT, same_text),
    "os.libc_version": (_VERSION, same_text),
    "os.sandbox": (_TEXT, same_text),
    "cpu.architecture": (_TEXT, architecture),
    "cpu.features": (_SET, unordered),
    "cpu.byte_order": (_TEXT, same_text),
    "cpu.pointer_bits": (_TEXT, same_text),
    "python.version": (_VERSION, python_version),
    "python.implementation": (_TEXT, same_text),
    "python.free_threaded": (_TEXT, same_text),
    "python.debug_build": (_TEXT, same_text),
    "python.optimize": (_TEXT, same_text),
    "python.hash_seed": (_TEXT, same_text),
    "python.text_encoding": (_TEXT, encoding),
    "python.timezone": (_TEXT, timezone),
    "framework.keras_backend": (_TEXT, same_text),
}
"""How each key is compared: the kind of relation, and the normal form of its values."""


def relation_of(kind: str, train: Any, deploy: Any) -> str:
    """Return how the deploy value stands to the train value, as a term of the vocabulary."""
    if train == deploy:
        return "ec:same"
    if kind == _VERSION:
        order = compare_versions(str(deploy), str(train))
        if order is not None:
            return ("ec:older", "ec:same", "ec:newer")[order + 1]
    return "ec:different"


def add_properties(graph: Graph) -> None:
    """Add a node for every compared key."""
    for key, (kind, normal) in COMPARED.items():
        train, deploy = graph.train.fact(key), graph.deploy.fact(key)
        node, sources = f"fact:{key}", (f"train:{key}", f"deploy:{key}")
        if _beyond_intention(graph.train, key) or _beyond_intention(graph.deploy, key):
            graph.put(node, "relation", "ec:inapplicable", *sources)
            continue
        graph.put(node, "relation", _relation(kind, normal, train, deploy), *sources)
        for side, fact in (("train", train), ("deploy", deploy)):
            if fact.is_ok:
                graph.put_value(node, f"{side}Value", fact.value, f"{side}:{key}")
        if train.is_ok and deploy.is_ok:
            values = (normal(train.value), normal(deploy.value))
            _add_details(graph, node, kind, values, sources)


def _beyond_intention(side: Fingerprint, key: str) -> bool:
    """Return whether a side is a requirements or lock file, which has no such property."""
    return key not in side.facts and is_intention(side)


def _relation(kind: str, normal: Callable[[Any], Any], train: Fact, deploy: Fact) -> str:
    if train.is_open or deploy.is_open:
        return "ec:undetermined"
    absent = (train.state == NOT_APPLICABLE, deploy.state == NOT_APPLICABLE)
    if absent == (True, True):
        return "ec:inapplicable"
    if absent != (False, False):
        return "ec:onDeployOnly" if absent[0] else "ec:onTrainOnly"
    return relation_of(kind, normal(train.value), normal(deploy.value))


def _add_details(
    graph: Graph, node: str, kind: str, values: tuple[Any, Any], sources: tuple[str, str]
) -> None:
    """Add how far versions are apart, and what a set lost and gained."""
    train, deploy = values
    if kind == _VERSION:
        apart = distance(str(train), str(deploy))
        if apart is not None:
            graph.put(node, "distance", f"ec:{apart}", *sources)
    if kind == _SET and isinstance(train, list) and isinstance(deploy, list):
        lost = sorted(set(map(str, train)) - set(map(str, deploy)))
        if lost:
            graph.put_value(node, "lost", ", ".join(lost), *sources)
