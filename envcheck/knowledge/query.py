"""SPARQL over an exported comparison: read only, and nothing outside the graph is reached."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError

if TYPE_CHECKING:
    from rdflib import Dataset

__all__ = ["run_query"]

_FORBIDDEN = {
    "ServiceGraphPattern": "SERVICE asks another server",
    "DatasetClause": "FROM loads another graph",
}


def run_query(dataset: Dataset, text: str, place: str) -> str:
    """Return the answer: tab-separated rows, `true` or `false`, or Turtle for a CONSTRUCT.

    Raises InputError for anything but a query that stays inside the graph.
    """
    prepared = _prepare(dataset, text, place)
    found = dataset.query(prepared)
    if found.type == "ASK":
        return "true\n" if found.askAnswer else "false\n"
    if found.type in ("CONSTRUCT", "DESCRIBE"):
        turtle: str = found.graph.serialize(format="turtle")  # type: ignore[union-attr]
        return turtle
    names = [str(name) for name in found.vars or ()]
    rows = [_row(row, names) for row in found]
    if "order by" not in text.lower():
        rows.sort()
    return "".join("\t".join(row) + "\n" for row in [names, *rows])


def _row(row: Any, names: list[str]) -> list[str]:
    return ["" if row[name] is None else _cell(row[name]) for name in names]


def _cell(term: Any) -> str:
    """Return a term as one cell: tabs and line ends cannot break the table."""
    return json.dumps(str(term), ensure_ascii=True)[1:-1].replace('\\"', '"')


def _prepare(dataset: Dataset, text: str, place: str) -> Any:
    parsing = import_module("rdflib.plugins.sparql.parser")
    algebra = import_module("rdflib.plugins.sparql.algebra")
    prefixes = dict(dataset.namespaces())
    try:
        tree = parsing.parseQuery(text)
    except Exception as problem:
        line, column = getattr(problem, "lineno", None), getattr(problem, "col", "?")
        raise InputError(
            f"is no SPARQL query (column {column})",
            place=f"{place}:{line}" if line else place,
            hint="only SELECT, ASK, CONSTRUCT and DESCRIBE are answered; updates are not",
        ) from problem
    for name in _names(tree):
        if name in _FORBIDDEN:
            raise InputError(f"{_FORBIDDEN[name]}, which is refused", place=place)
    try:
        return algebra.translateQuery(tree, initNs=prefixes)
    except Exception as problem:
        raise InputError(
            f"cannot be answered: {problem}",
            place=place,
            hint="prefixes that need no declaration: " + ", ".join(sorted(prefixes)),
        ) from problem


def _names(node: Any) -> Iterator[str]:
    """Yield the names of all parts of a parsed query."""
    name = getattr(node, "name", None)
    if isinstance(name, str):
        yield name
    children = node.values() if isinstance(node, dict) else node
    if isinstance(children, (str, bytes)) or not hasattr(children, "__iter__"):
        return
    for child in children:
        if child is not node:
            yield from _names(child)
