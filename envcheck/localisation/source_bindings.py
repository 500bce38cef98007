"""What names in a source file are bound to: assignments, loops, parameters, class constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from envcheck.localisation.source_trees import Source

__all__ = [
    "COMPREHENSIONS",
    "Binding",
    "Bindings",
    "Function",
    "Scope",
    "chosen",
    "parameter_default",
    "parameter_names",
    "scope_name",
    "scopes_of",
]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Scope: TypeAlias = Function | Comprehension | ast.ClassDef | ast.Module

COMPREHENSIONS = {
    ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, *COMPREHENSIONS, ast.ClassDef, ast.Module)


@dataclass(frozen=True)
class Binding:
    """One place that gives a name a value.

    `value` is the expression of the value, or for a loop that of what it goes through; `index`
    is the place of the name in a target that unpacks. `node` is the name as it stands there.
    """

    kind: Literal["value", "loop", "parameter", "other"]
    node: ast.AST
    value: ast.expr | None = None
    index: int | None = None

    @property
    def position(self) -> tuple[int, int]:
        """Return where the name gets its value, as line and offset."""
        return (getattr(self.node, "lineno", 0), getattr(self.node, "col_offset", 0))


def scopes_of(source: Source, node: ast.AST) -> list[Scope]:
    """Return the scopes that a node sees names of, the innermost first, the module last.

    A class body is left out unless the node stands directly in it.
    """
    found: list[Any] = []
    for outer in source.ancestors(node):
        if isinstance(outer, _SCOPES) and not (isinstance(outer, ast.ClassDef) and found):
            found.append(outer)
    return found


def scope_name(scope: Scope) -> str:
    """Return the name of the code that a scope is compiled to."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return scope.name
    if isinstance(scope, ast.Lambda):
        return "<lambda>"
    return "<module>" if isinstance(scope, ast.Module) else COMPREHENSIONS[type(scope)]


class Bindings:
    """The bindings in the scopes of one file; each scope is gone through once."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, dict[str, list[Binding]]] = {}

    def of(self, scope: Scope, name: str) -> list[Binding]:
        """Return all bindings of a name in one scope, in the order of the text."""
        if scope not in self._known:
            named: dict[str, list[Binding]] = {}
            for key, binding in _all(scope):
                named.setdefault(key, []).append(binding)
            for found in named.values():
                found.sort(key=lambda binding: binding.position)
            self._known[scope] = named
        return self._known[scope].get(name, [])


def _all(scope: Scope) -> Iterator[tuple[str, Binding]]:
    if isinstance(scope, _FUNCTIONS):
        for argument in _arguments(scope):
            yield argument.arg, Binding("parameter", argument)
    if isinstance(scope, tuple(COMPREHENSIONS)):
        for generator in scope.generators:  # type: ignore[union-attr]
            yield from _targets(generator.target, generator.iter, "loop")
        return
    body = scope.body if isinstance(scope.body, list) else [scope.body]  # type: ignore[union-attr]
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield from _bound_by(node)
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _bound_by(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(target, node.value, "value")
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield from _targets(node.target, node.value, "value")
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield from _targets(node.target, node.iter, "loop")
    elif isinstance(node, ast.AugAssign):
        yield from _others(node.target)
    elif isinstance(node, ast.withitem):
        yield from _others(node.optional_vars)
    else:
        yield from _defined_by(node)


def _defined_by(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0], Binding("other", alias)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, Binding("other", node)


def _targets(
    target: ast.expr, value: ast.expr, kind: Literal["value", "loop"]
) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Binding(kind, target, value)
    elif isinstance(target, ast.Tuple | ast.List):
        paired = value.elts if isinstance(value, ast.Tuple | ast.List) and kind == "value" else None
        for index, part in enumerate(target.elts):
            if not isinstance(part, ast.Name):
                yield from _others(part)
            elif paired is not None and len(paired) == len(target.elts):
                yield part.id, Binding("value", part, paired[index])
            elif kind == "loop":
                yield part.id, Binding("loop", part, value, index)
            else:
                yield part.id, Binding("other", part)


def _others(target: ast.AST | None) -> Iterator[tuple[str, Binding]]:
    for node in ast.walk(target) if target is not None else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, Binding("other", node)


def chosen(
    source: Source, found: list[Binding], position: tuple[int, int] | None, use: ast.AST | None
) -> Binding | None:
    """Return the binding that holds at a position, or None where several could.

    `position` is None where it is not known when the name is used; `use` is the node that uses
    it when it stands in the same scope.
    """
    if len(found) == 1:
        return found[0]
    before = [item for item in found if position is None or item.position < position]
    if position is None or not before:
        return None
    last = before[-1]
    if len(before) == 1 or last.kind == "parameter":
        return last
    return last if _always_runs(source, last.node, use) else None


def _always_runs(source: Source, node: ast.AST, use: ast.AST | None) -> bool:
    """Return whether what binds a name runs whenever its use does."""
    blocks = {_block(source, outer) for outer in [use, *source.ancestors(use)]} if use else set()
    current: ast.AST = node
    for outer in source.ancestors(node):
        if isinstance(outer, _SCOPES):
            return True
        if isinstance(current, ast.stmt) and _block(source, current) in blocks:
            return True
        conditional = ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar
        if isinstance(outer, conditional | ast.match_case | ast.ExceptHandler) and (
            not isinstance(outer, ast.For | ast.AsyncFor) or isinstance(current, ast.stmt)
        ):
            return False
        current = outer
    return True


def _block(source: Source, node: ast.AST | None) -> tuple[ast.AST | None, str]:
    """Return the list of statements that a node is in, as its owner and the name of the list."""
    if node is None:
        return (None, "")
    owner = source.parents.get(node)
    for field, value in ast.iter_fields(owner) if owner is not None else ():
        if value is node or (isinstance(value, list) and any(item is node for item in value)):
            return (owner, field)
    return (owner, "")


def _arguments(function: Function) -> list[ast.arg]:
    given = function.args
    extra = [argument for argument in (given.vararg, given.kwarg) if argument is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra]


def parameter_names(function: Function) -> list[str]:
    """Return the parameters that can be given by position."""
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def parameter_default(function: Function, name: str) -> ast.expr | None:
    """Return the expression of a parameter's default, or None where it has none."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = given.defaults
    for argument, default in zip(
        positional[len(positional) - len(defaults) :], defaults, strict=True
    ):
        if argument.arg == name:
            return default
    for argument, keyword_default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if argument.arg == name:
            return keyword_default
    return None
