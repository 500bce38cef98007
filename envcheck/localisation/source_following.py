"""Follow a value in a program's text to where it is written: through names, helpers, dicts."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from envcheck.localisation.source_bindings import (
    Binding,
    Bindings,
    Function,
    Scope,
    chosen,
    parameter_default,
    parameter_names,
    scope_name,
    scopes_of,
)
from envcheck.localisation.source_literals import (
    UNKNOWN,
    columns,
    element,
    is_named,
    is_value,
    name_of,
    of_value,
)
from envcheck.localisation.source_trees import Frame, Source, find_call

__all__ = ["Follower", "Spot", "Unsure"]

_DEEPEST = 12


@dataclass(frozen=True)
class Spot:
    """A node of a source file, run by the frame of that number."""

    source: Source
    node: ast.AST
    frame: int


class Unsure:
    """The outcome of a search that met something it cannot see through."""


class Follower:
    """Follows values through the frames that led to one call, the innermost first."""

    def __init__(self, frames: Sequence[Frame], read: Callable[[str], Source | None]) -> None:
        self.frames = frames
        self._read = read

    def call_at(self, index: int, callee: str | None = None) -> Spot | None:
        """Return the call that a frame stands at, or None."""
        if index >= len(self.frames):
            return None
        source = self._read(self.frames[index].file)
        if source is None:
            return None
        call = find_call(source, self.frames[index], callee)
        return None if call is None else Spot(source, call, index)

    def argument(
        self, spot: Spot, keyword: str, positional: Sequence[str], depth: int = 0
    ) -> Spot | Unsure | None:
        """Return where a call writes an argument; None where it does not."""
        call = spot.node
        if depth > _DEEPEST or not isinstance(call, ast.Call):
            return Unsure()
        outcome: Spot | Unsure | None = None
        for given in call.keywords:
            if given.arg == keyword:
                return replace(spot, node=given.value)
            if given.arg is None:
                found = self._unpacked(replace(spot, node=given.value), keyword, depth + 1)
                if isinstance(found, Spot):
                    return found
                outcome = outcome or found
        if keyword in positional:
            found = self._by_position(spot, call, positional.index(keyword), depth)
            if found is not None:
                return found
        return outcome or self._in_partial(spot, call, keyword, positional, depth)

    def _by_position(
        self, spot: Spot, call: ast.Call, index: int, depth: int
    ) -> Spot | Unsure | None:
        for number, given in enumerate(call.args):
            if isinstance(given, ast.Starred):
                return self._starred(replace(spot, node=given.value), index - number, depth + 1)
            if number == index:
                return replace(spot, node=given)
        return None

    def _starred(self, spot: Spot, index: int, depth: int) -> Spot | Unsure | None:
        """Return the element of a number in what `*` unpacks."""
        scope, binding = self._binding(spot)
        if binding is not None and binding.kind == "parameter" and _is_function(scope):
            given = scope.args.vararg
            caller = self._caller(scope, spot.frame)
            if given is not None and given.arg == name_of(spot.node) and caller is not None:
                call = caller.node
                taken = len(parameter_names(scope)) - _bound(scope, spot.source)
                if isinstance(call, ast.Call):
                    return self._by_position(caller, call, taken + index, depth + 1)
            return Unsure()
        literal = self.resolve(spot, UNKNOWN, depth + 1)
        if isinstance(literal.node, ast.Tuple | ast.List):
            elements = literal.node.elts
            return replace(literal, node=elements[index]) if index < len(elements) else None
        return Unsure()

    def _unpacked(self, spot: Spot, keyword: str, depth: int) -> Spot | Unsure | None:
        """Return the value that `**` unpacks under a keyword."""
        scope, binding = self._binding(spot)
        if binding is not None and binding.kind == "parameter" and _is_function(scope):
            rest = scope.args.kwarg
            caller = self._caller(scope, spot.frame)
            if caller is None:
                return Unsure()
            if rest is not None and rest.arg == name_of(spot.node):
                return self.argument(caller, keyword, (), depth + 1)
        literal = self.resolve(spot, UNKNOWN, depth + 1)
        return self._in_mapping(literal, keyword, depth)

    def _in_mapping(self, spot: Spot, keyword: str, depth: int) -> Spot | Unsure | None:
        node = spot.node
        if isinstance(node, ast.Dict):
            outcome: Spot | Unsure | None = None
            for key, value in zip(reversed(node.keys), reversed(node.values), strict=True):
                if key is None:
                    found = self._unpacked(replace(spot, node=value), keyword, depth + 1)
                    if isinstance(found, Spot):
                        return found
                    outcome = outcome or found
                elif isinstance(key, ast.Constant) and key.value == keyword:
                    return replace(spot, node=value)
                elif not isinstance(key, ast.Constant):
                    outcome = outcome or Unsure()
            return outcome
        if isinstance(node, ast.Call) and is_named(node.func, "dict") and not node.args:
            return self.argument(spot, keyword, (), depth + 1)
        return Unsure()

    def call_in(self, spot: Spot, keyword: str) -> Spot | None:
        """Return the call that makes the value of an argument of the call at a spot."""
        found = self.argument(spot, keyword, (keyword,))
        made = self.resolve(found, UNKNOWN) if isinstance(found, Spot) else None
        return made if made is not None and isinstance(made.node, ast.Call) else None

    def item(self, spot: Spot, key: str | None) -> Spot:
        """Return the value of a key in the dict at a spot, or the spot where there is none."""
        holder = self.resolve(spot, UNKNOWN)
        found = None if key is None else self._in_mapping(holder, key, 0)
        return found if isinstance(found, Spot) else holder

    def _in_partial(
        self, spot: Spot, call: ast.Call, keyword: str, positional: Sequence[str], depth: int
    ) -> Spot | Unsure | None:
        """Look into `functools.partial(...)` when that made what is called."""
        if not isinstance(call.func, ast.Name):
            return None
        made = self.resolve(replace(spot, node=call.func), UNKNOWN, depth + 1)
        if isinstance(made.node, ast.Call) and is_named(made.node.func, "partial"):
            return self.argument(made, keyword, ("", *positional), depth + 1)
        return None

    def resolve(self, spot: Spot, value: Any, depth: int = 0) -> Spot:
        """Return where the value at a spot is written; the spot itself when that is not certain.

        `value` is what the program really passed, when it is known: it decides between the
        elements of a loop and between assignments in branches.
        """
        if depth > _DEEPEST:
            return spot
        found: Spot | Unsure | None = None
        if isinstance(spot.node, ast.Name):
            found = self._named(spot, value, depth)
        elif isinstance(spot.node, ast.Subscript):
            found = self._subscribed(spot, spot.node, depth)
        elif isinstance(spot.node, ast.Attribute):
            found = self._constant_of_class(spot, spot.node)
        if not isinstance(found, Spot) or found == spot:
            return spot
        return self.resolve(found, value, depth + 1)

    def _subscribed(self, spot: Spot, node: ast.Subscript, depth: int) -> Spot | Unsure | None:
        if not isinstance(node.slice, ast.Constant):
            return None
        key = node.slice.value
        holder = self.resolve(replace(spot, node=node.value), UNKNOWN, depth + 1)
        if isinstance(key, str):
            return self._in_mapping(holder, key, depth)
        if isinstance(holder.node, ast.List | ast.Tuple) and isinstance(key, int):
            elements = holder.node.elts
            return replace(holder, node=elements[key]) if 0 <= key < len(elements) else None
        return None

    def _constant_of_class(self, spot: Spot, node: ast.Attribute) -> Spot | None:
        """Return the assignment of `RATE` in a class body for `Settings.RATE`."""
        _, binding = self._binding(replace(spot, node=node.value))
        if binding is None or not isinstance(binding.node, ast.ClassDef):
            return None
        bound = _bindings_of(spot.source).of(binding.node, node.attr)
        found = [item for item in bound if item.value is not None]
        if len(found) != 1 or found[0].value is None:
            return None
        return replace(spot, node=found[0].value)

    def _named(self, spot: Spot, value: Any, depth: int) -> Spot | Unsure | None:
        scope, binding = self._binding(spot, value)
        if scope is None or binding is None:
            return None
        if binding.kind == "parameter" and _is_function(scope):
            return self._parameter(spot, scope, name_of(spot.node), depth)
        if binding.kind == "loop":
            return self._looped(spot, binding, value, depth)
        if binding.value is not None:
            return replace(spot, node=binding.value)
        plain = isinstance(binding.node, ast.Name)
        return replace(spot, node=binding.node) if plain else None

    def _binding(self, spot: Spot, value: Any = UNKNOWN) -> tuple[Scope | None, Binding | None]:
        """Return the scope and the binding of the name at a spot."""
        if not isinstance(spot.node, ast.Name) or not isinstance(spot.node.ctx, ast.Load):
            return None, None
        name = spot.node.id
        for number, scope in enumerate(scopes_of(spot.source, spot.node)):
            found = _bindings_of(spot.source).of(scope, name)
            if not found:
                continue
            near = number == 0
            position = (
                (spot.node.lineno, spot.node.col_offset)
                if near
                else self._reached(spot.source, scope, spot.frame)
            )
            binding = chosen(spot.source, found, position, spot.node if near else None)
            return scope, binding or of_value(found, value)
        return None, None

    def _reached(self, source: Source, scope: Scope, start: int) -> tuple[int, int] | None:
        """Return how far a scope has run, as line and offset, or None when no frame is in it."""
        number = self._frame_of(source, scope, start)
        return None if number is None else (self.frames[number].line, 0)

    def _frame_of(self, source: Source, scope: Scope, start: int) -> int | None:
        name = scope_name(scope)
        first, last = getattr(scope, "lineno", 1), getattr(scope, "end_lineno", None)
        for number in range(start, len(self.frames)):
            frame = self.frames[number]
            same = frame.file == source.file and frame.function == name
            if same and first <= frame.line <= (last or frame.line):
                return number
        return None

    def _looped(self, spot: Spot, binding: Binding, value: Any, depth: int) -> Spot:
        """Return the element of a literal that has the value, or the loop's own variable."""
        place = replace(spot, node=binding.node)
        if value is UNKNOWN or binding.value is None:
            return place
        through = self.resolve(replace(spot, node=binding.value), UNKNOWN, depth + 1)
        elements, index = columns(through.node, binding.index)
        if isinstance(elements, ast.Name):
            through = self.resolve(replace(through, node=elements), UNKNOWN, depth + 1)
            elements = through.node
        if not isinstance(elements, ast.List | ast.Tuple):
            return place
        parts = [element(item, index) for item in elements.elts]
        equal = [item for item in parts if item is not None and is_value(item, value)]
        return replace(through, node=equal[0]) if len(equal) == 1 else place

    def _parameter(
        self, spot: Spot, function: Function, name: str, depth: int
    ) -> Spot | Unsure | None:
        """Return what the caller of a helper passes for a parameter, or the parameter's default."""
        caller = self._caller(function, spot.frame)
        if caller is None:
            return None
        names = parameter_names(function)
        positional = names[_bound(function, spot.source) :]
        found = self.argument(caller, name, positional, depth + 1)
        if found is not None:
            return found
        default = parameter_default(function, name)
        return None if default is None else replace(spot, node=default)

    def _caller(self, function: Function, start: int) -> Spot | None:
        """Return the call that runs a function of the program."""
        source = self._read(self.frames[start].file)
        number = None if source is None else self._frame_of(source, function, start)
        if number is None:
            return None
        name = scope_name(function)
        return self.call_at(number + 1, None if name.startswith(("<", "__")) else name)


_known: weakref.WeakKeyDictionary[Source, Bindings] = weakref.WeakKeyDictionary()


def _bindings_of(source: Source) -> Bindings:
    """Return the bindings of a file, gathered once as long as the file is in use."""
    found = _known.get(source)
    if found is None:
        found = _known[source] = Bindings()
    return found


def _is_function(scope: Scope | None) -> TypeGuard[Function]:
    return isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _bound(function: Function, source: Source) -> int:
    """Return how many parameters Python fills in itself: `self` of a method."""
    if isinstance(function, ast.Lambda) or not isinstance(source.parents[function], ast.ClassDef):
        return 0
    marks = [name_of(mark) for mark in function.decorator_list]
    return 0 if "staticmethod" in marks else 1
