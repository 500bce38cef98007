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
from envcheck.facts import NOT_APPLICABLE, Fact, ok, unknown
from envcheck.fingerprint import Fingerprint
from envcheck.versions import compare_versions, distance

__all__ = ["COMPARED", "add_properties", "relation_of"]

_TEXT = "text"
_VERSION = "version"
_SET = "set"
_FAMILIES = ("package.", "model.")
"""Families with builders of their own."""

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


def add_properties(graph: Graph, *, everything: bool = False) -> None:
    """Add a node for every compared key; with `everything`, for every other single fact too.

    A fact that is an object becomes one node for each of its fields, `fact:file.vocab.sha256`.
    """
    for key, how in COMPARED.items():
        if _beyond_intention(graph.train, key) or _beyond_intention(graph.deploy, key):
            sources = (f"train:{key}", f"deploy:{key}")
            graph.put(f"fact:{key}", "relation", "ec:inapplicable", *sources)
        else:
            _add_node(graph, key, (graph.train.fact(key), graph.deploy.fact(key)), how)
    if everything:
        _add_others(graph)


def _add_others(graph: Graph) -> None:
    """Add what only rules of a user read."""
    for key in sorted({*graph.train.facts, *graph.deploy.facts}.difference(COMPARED)):
        if key == "python.packages" or key.startswith(_FAMILIES):
            continue
        pair = (graph.train.fact(key), graph.deploy.fact(key))
        names = {name for fact in pair if isinstance(fact.value, dict) for name in fact.value}
        if not names:
            _add_node(graph, key, pair, (_TEXT, same_text))
        for name in sorted(names):
            fields = (_field(pair[0], name), _field(pair[1], name))
            _add_node(graph, key, fields, (_TEXT, same_text), f"fact:{key}.{name}")


def _field(fact: Fact, name: str) -> Fact:
    """Return one field of an object as a fact of its own."""
    if not fact.is_ok:
        return fact
    if not isinstance(fact.value, dict) or name not in fact.value:
        return unknown("the fact does not have this field")
    return ok(fact.value[name])


def _add_node(
    graph: Graph,
    key: str,
    pair: tuple[Fact, Fact],
    how: tuple[str, Callable[[Any], Any]],
    node: str = "",
) -> None:
    """Add one compared fact: relation, values, and how they differ."""
    (kind, normal), (train, deploy) = how, pair
    node, sources = node or f"fact:{key}", (f"train:{key}", f"deploy:{key}")
    graph.put(node, "relation", _relation(kind, normal, train, deploy), *sources)
    for side, fact in (("train", train), ("deploy", deploy)):
        if fact.is_ok:
            graph.put_value(node, f"{side}Value", fact.value, f"{side}:{key}")
    if train.is_ok and deploy.is_ok:
        _add_details(graph, node, kind, (normal(train.value), normal(deploy.value)), sources)


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
