"""What a node of the graph speaks of, and the two values by which a finding about it is known."""

from __future__ import annotations

import re

from envcheck.comparing.properties import COMPARED
from envcheck.reasoning import FactBase
from envcheck.reasoning.store import NO_TABLE
from envcheck.reasoning.terms import value

__all__ = ["subject_of", "values_of"]

_ABOUT_PACKAGES = frozenset(
    {"pkg", "wheel", "duplicate", "editable", "range", "extension", "baseline", "want", "ban"}
)
_SUBJECTS = {
    "env:deploy": "python.packages",
    "env:train": "python.packages",
    "env:run": "policy",
    "pool:deploy": "limits.cpu_quota",
    "gpu:deploy": "gpu.devices",
}
_POLICY = frozenset({"waiver", "baseline-entry"})
_WANTED = ("trainVersion", "trainValue", "requiredByName", "specifier", "needs", "pythonRange",
           "partnerVersion", "requirementText", "quota")  # fmt: skip
_FOUND = ("deployVersion", "deployValue", "has", "what", "python", "rivals", "duplicateVersions",
          "lacksBaseline", "threads")  # fmt: skip
_PLAIN = re.compile(r"\d+(?:\.\d+)*\Z", re.ASCII)


def subject_of(node: str) -> str:
    """Return the fact key that a node of the graph speaks of."""
    if node in _SUBJECTS:
        return _SUBJECTS[node]
    prefix, _, local = node.partition(":")
    if prefix in _ABOUT_PACKAGES:
        return f"package.{local}"
    if prefix == "check":
        return local.rpartition("/")[0]
    if prefix == "req":
        return f"package.{local.partition('/')[2]}"
    if prefix in _POLICY:
        return f"{prefix}.{local}"
    return local if prefix == "fact" else f"import.{local}"


def values_of(base: FactBase, node: str) -> tuple[str, str]:
    """Return what is wanted and what is found at a node, normalised.

    Spellings that a comparison takes for the same (AMD64 and x86_64, 1.0 and 1.0.0) are the same
    here, and a set stands for the members that it lost.
    """
    lost = _texts(base, node, ("lost",))
    if lost:
        return "", lost
    wanted = [_part_of_check(base, node), _texts(base, node, _WANTED)]
    return ", ".join(text for text in wanted if text), _texts(base, node, _FOUND)


def _part_of_check(base: FactBase, node: str) -> str:
    """Return what tells a check from others of its kind about the same fact, or an empty text."""
    kinds = base.tables.get("ec:checks", NO_TABLE).objects.get(node, ())
    tail = node.rpartition("/")[2]
    return next((tail.removeprefix(kind.partition(":")[2]) for kind in kinds), "")


def _texts(base: FactBase, node: str, predicates: tuple[str, ...]) -> str:
    found = []
    for predicate in predicates:
        table = base.tables.get(f"ec:{predicate}", NO_TABLE)
        found += sorted(_normal(node, term) for term in table.objects.get(node, ()))
    return ", ".join(found)


def _normal(node: str, term: str) -> str:
    given = value(term)
    if node.startswith("fact:"):
        _, normal = COMPARED.get(node[5:], ("", str))
        given = normal(given)
    text = " ".join(str(given).lower().split())
    if _PLAIN.match(text):
        text = re.sub(r"(?:\.0+)+\Z", "", text)
    return text
