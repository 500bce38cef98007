"""The rule index: the data file that lists every rule id with its place in the taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from envcheck.rulebook.loading import Rulebook

__all__ = ["CATEGORIES", "COMPONENTS", "IndexEntry", "check_index", "read_index"]

CATEGORIES = frozenset(
    (
        "os", "cpu", "gpu", "python", "library", "resource", "artefact", "conversion",
        "data-split", "preprocessing", "labels", "data-quality", "activation", "initialisation",
        "architecture", "regularisation", "loss", "optimiser", "learning-rate", "iterations",
        "batch-size", "metric", "numeric", "shape", "security", "setting",
    )
)  # fmt: skip
COMPONENTS = frozenset(("deployment", "conversion", "data", "model", "training"))
SEVERITIES = frozenset(("error", "warning", "info"))

_REQUIRED = ("fault", "category", "component", "severity")
_OPTIONAL = ("fl4deep", "deepfd", "count")


class IndexEntry:
    """One rule in the taxonomy; `fl4deep` and `deepfd` are the terms those tools use, or "".

    `count` is how often the fault was met among the 375 items of the published taxonomy of
    faults in deep learning (Humbatova et al. 2020), or None where nobody has counted.
    """

    __slots__ = ("category", "component", "count", "deepfd", "fault", "fl4deep", "severity")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.fault = data["fault"]
        self.category = data["category"]
        self.component = data["component"]
        self.severity = data["severity"]
        self.fl4deep = data.get("fl4deep", "")
        self.count: int | None = data.get("count")
        self.deepfd = data.get("deepfd", "")


def read_index(data: Mapping[str, Any]) -> dict[str, IndexEntry]:
    """Return the entries by rule id; raises RuleError that lists every mistake."""
    mistakes = [m for rule_id in sorted(data) for m in _mistakes(rule_id, data[rule_id])]
    if mistakes:
        raise RuleError("mistakes in the rule index\n" + "\n".join(mistakes))
    return {rule_id: IndexEntry(data[rule_id]) for rule_id in sorted(data)}


def check_index(index: Mapping[str, IndexEntry], rulebook: Rulebook) -> list[str]:
    """Return where the index and the rules disagree; entries without a rule are allowed."""
    mistakes = []
    for rule_id in rulebook.ids:
        rule, entry = rulebook.rule(rule_id), index.get(rule_id)
        if entry is None:
            mistakes.append(f"{rule.place}: {rule_id} is not in the rule index")
            continue
        for name in ("fault", "severity"):
            here, there = getattr(rule, name), getattr(entry, name)
            if here != there:
                mistakes.append(f"{rule.place}: ec:{name} is {here!r}, the index says {there!r}")
    return mistakes


def _mistakes(rule_id: str, entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return [f"{rule_id}: not an object"]
    found = [f"{rule_id}: {name} is missing" for name in _REQUIRED if name not in entry]
    for name, value in entry.items():
        if name not in (*_REQUIRED, *_OPTIONAL):
            found.append(f"{rule_id}: unknown field {name}")
        elif name == "count":
            if type(value) is not int or value < 0:
                found.append(f"{rule_id}: count is not a number of cases")
        elif not isinstance(value, str):
            found.append(f"{rule_id}: {name} is not a text")
    closed = {"category": CATEGORIES, "component": COMPONENTS, "severity": SEVERITIES}
    for name, known in closed.items():
        if name in entry and entry[name] not in known:
            found.append(f"{rule_id}: unknown {name} {entry[name]!r}")
    return found
