"""How the source is laid out: names, sizes, and what belongs where."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

import envcheck
from tests.contract.sources import Source, product

if TYPE_CHECKING:
    from pathlib import Path

VAGUE = {"base", "common", "helpers", "misc", "shared", "util", "utils"}
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 45


@pytest.mark.parametrize("source", product(), ids=lambda source: source.place)
def test_a_file_has_one_subject(source: Source) -> None:
    """A file is named for its subject and is short enough to have one; so is a function."""
    lines = source.text.count("\n")
    long = [
        f"{source.place}:{node.lineno}: {node.name} has {_length(node)} lines"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _length(node) > MOST_LINES_OF_A_FUNCTION
    ]

    assert source.module.rpartition(".")[2] not in VAGUE
    assert lines <= MOST_LINES, f"{source.place} has {lines} lines and wants splitting"
    assert long == []


def test_rules_are_data(root: Path) -> None:
    """Under rules/, Python files exist only to make folders importable, and do nothing."""
    files = sorted((root / "rules").rglob("*.py"))
    busy = [path for path in files if not _only_a_docstring(path.read_text("utf-8"))]

    assert files
    assert [path for path in files if path.name != "__init__.py"] == []
    assert busy == []


def test_no_module_bears_the_name_of_a_public_function() -> None:
    """Importing `envcheck.NAME` must never replace the function `envcheck.NAME`."""
    modules = {source.module.split(".")[1] for source in product() if source.module.count(".") >= 1}
    functions = {name for name in envcheck.__all__ if callable(getattr(envcheck, name))}

    assert functions, "the package offers no function at all"
    assert functions & modules == set()


def test_public_names_exist() -> None:
    """Every name in `__all__` of the package resolves, and the list is sorted."""
    missing = [name for name in envcheck.__all__ if not hasattr(envcheck, name)]

    assert missing == []
    assert list(envcheck.__all__) == sorted(envcheck.__all__)


def _only_a_docstring(text: str) -> bool:
    body = ast.parse(text).body
    return not body or (len(body) == 1 and ast.get_docstring(ast.parse(text)) is not None)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    start = node.body[0]
    docstring = ast.get_docstring(node, clean=False)
    skip = (start.end_lineno or start.lineno) - start.lineno + 1 if docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - skip
