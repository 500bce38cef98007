"""Read literals in a program's text: their values, their elements, the names that they call."""

from __future__ import annotations

import ast
from typing import Any

from envcheck.localisation.source_bindings import Binding

__all__ = ["UNKNOWN", "columns", "element", "is_named", "is_value", "name_of", "of_value"]

UNKNOWN = object()
"""Stands for the value of an argument that is not known."""


def name_of(node: ast.AST) -> str:
    """Return the name that a node is, or nothing for any other."""
    return node.id if isinstance(node, ast.Name) else ""


def is_named(function: ast.expr, name: str) -> bool:
    """Return whether what is called goes by a name, in whatever module."""
    last = function.attr if isinstance(function, ast.Attribute) else name_of(function)
    return last == name


def of_value(found: list[Binding], value: Any) -> Binding | None:
    """Return the one assignment of a literal that has the value."""
    if value is UNKNOWN:
        return None
    equal = [item for item in found if item.value is not None and is_value(item.value, value)]
    return equal[0] if len(equal) == 1 and equal[0].kind == "value" else None


def is_value(node: ast.expr, value: Any) -> bool:
    """Return whether an expression is a literal of a value."""
    try:
        written = ast.literal_eval(node)
        return bool(written == value) and isinstance(written, str) == isinstance(value, str)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def columns(node: ast.AST, index: int | None) -> tuple[ast.AST, int | None]:
    """Return the list that a loop takes its elements from, through `enumerate` and `zip`."""
    if isinstance(node, ast.Call) and index is not None:
        if is_named(node.func, "enumerate") and index == 1 and node.args:
            return node.args[0], None
        if is_named(node.func, "zip") and index < len(node.args):
            return node.args[index], None
    return node, index


def element(item: ast.expr, index: int | None) -> ast.expr | None:
    """Return the part of an element that a loop gives to the name of that number."""
    if index is None:
        return item
    if isinstance(item, ast.Tuple | ast.List) and index < len(item.elts):
        return item.elts[index]
    return None
