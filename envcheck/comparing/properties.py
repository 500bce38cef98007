"""Compared properties: one node per fact key that has a counterpart on the other side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envcheck.comparing.graph import Graph
from envcheck.facts import NOT_APPLICABLE, Fact
from envcheck.versions import compare_versions, distance

__all__ = ["COMPARED", "add_properties", "relation_of"]

_ARCHITECTURES = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "x86-64": "x86_64",
    "arm64": "aarch64",
    "i386": "x86",
    "i586": "x86",
    "i686": "x86",
}


def _same_text(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _architecture(value: Any) -> Any:
    lowered = _same_text(value)
    return _ARCHITECTURES.get(lowered, lowered)


def _timezone(value: Any) -> Any:
    lowered = _same_text(value)
    utc = {"utc", "etc/utc", "gmt", "etc/gmt", "zulu", "utc+00:00", "+00:00", "universal"}
    return "utc" if lowered in utc else lowered


def _encoding(value: Any) -> Any:
    return str(value).lower().replace("_", "-").replace("utf8", "utf-8")


def _unordered(value: Any) -> Any:
    return sorted(str(item) for item in value) if isinstance(value, list) else value


_TEXT = "text"
_VERSION = "version"
_SET = "set"

COMPARED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "os.system": (_TEXT, _same_text),
    "os.release_id": (_TEXT, _same_text),
    "os.release_version": (_TEXT, _same_text),
    "os.libc_family": (_TEXT, _same_text),
    "os.libc_version": (_VERSION, _same_text),
    "os.sandbox": (_TEXT, _same_text),
    "cpu.architecture": (_TEXT, _architecture),
    "cpu.features": (_SET, _unordered),
    "cpu.byte_order": (_TEXT, _same_text),
    "cpu.pointer_bits": (_TEXT, _same_text),
    "python.version": (_VERSION, _same_text),
    "python.implementation": (_TEXT, _same_text),
    "python.free_threaded": (_TEXT, _same_text),
    "python.debug_build": (_TEXT, _same_text),
    "python.optimize": (_TEXT, _same_text),
    "python.hash_seed": (_TEXT, _same_text),
    "python.text_encoding": (_TEXT, _encoding),
    "python.timezone": (_TEXT, _timezone),
    "framework.keras_backend": (_TEXT, _same_text),
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
        graph.put(node, "relation", _relation(kind, normal, train, deploy), *sources)
        for side, fact in (("train", train), ("deploy", deploy)):
            if fact.is_ok:
                graph.put_value(node, f"{side}Value", fact.value, f"{side}:{key}")
        if train.is_ok and deploy.is_ok:
            _add_details(graph, node, kind, (train.value, deploy.value), sources)


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
