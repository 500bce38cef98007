"""What the contract tests read out of the source files, without importing them."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STDLIB = frozenset(sys.stdlib_module_names)
ADAPTERS = {
    "envcheck.integrations.pytest_plugin": "pytest",
    "envcheck.intended": "packaging",
    "envcheck.rulebook.implications": "rdflib",
    "envcheck.rulebook.notation": "rdflib",
    "envcheck.rulebook.triples": "rdflib",
}
"""Modules (with all below them) that subclass what a package offers, or stand on one that does.

They need the package to be imported at all, so everything else imports them lazily.
"""


def adapted(module: str) -> str | None:
    """Return the package without which this module cannot be imported, or None."""
    names = (name for name in ADAPTERS if module == name or module.startswith(f"{name}."))
    return next((ADAPTERS[name] for name in names), None)


@dataclass(frozen=True)
class Import:
    """One import: what it names, where it stands, and when it happens."""

    module: str
    line: int
    lazy: bool
    typing_only: bool

    @property
    def top(self) -> str:
        """The first part of the name."""
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Source:
    """One Python file of the product."""

    place: str
    module: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, self.place)

    @property
    def imports(self) -> tuple[Import, ...]:
        """Every import in the file, in order; `from a import b` counts as `a` and as `a.b`."""
        return tuple(_imports(self.tree.body, lazy=False, typing_only=False))


@cache
def product() -> tuple[Source, ...]:
    """Return every Python file that ships in the wheel."""
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), module_name(path), path.read_text("utf-8"))
        for folder in ("envcheck", "probes", "rules")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


def module_name(path: Path) -> str:
    """Return the name under which an installed envcheck has this file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] != "envcheck":
        parts = ("envcheck", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(body: list[ast.stmt], *, lazy: bool, typing_only: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy, typing_only)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            assert node.module
            yield Import(node.module, node.lineno, lazy, typing_only)
            for alias in node.names:
                yield Import(f"{node.module}.{alias.name}", node.lineno, lazy, typing_only)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _imports(node.body, lazy=lazy, typing_only=True)
            yield from _imports(node.orelse, lazy=lazy, typing_only=typing_only)
        else:
            inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for block in _blocks(node):
                yield from _imports(block, lazy=inner, typing_only=typing_only)


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name | ast.Attribute) and "TYPE_CHECKING" in ast.dump(test)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists inside a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
