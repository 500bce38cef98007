"""Source files as syntax trees, and the calls that frames stand at."""

from __future__ import annotations

import ast
import io
import linecache
import os
import tokenize
import warnings
from dataclasses import dataclass

__all__ = ["Frame", "Source", "callee_name", "find_call", "read_source"]

_LARGEST = 4_000_000


@dataclass(frozen=True)
class Frame:
    """Where one function of the program stood: a file and the range of the call in it.

    Lines count from 1; columns are offsets in the UTF-8 bytes of a line from 0, as in the
    positions of code objects. Columns and the last line are None where Python keeps none.
    """

    file: str
    line: int
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    function: str = "<module>"


class Source:
    """One file: its lines, its tree, the parent of each node, its calls and where each ends."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.calls: list[ast.Call] = []
        self.ends: dict[tuple[int, int], ast.Call] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                self.calls.append(node)
                self.ends[node.end_lineno or 0, node.end_col_offset or 0] = node
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def text_of(self, line: int) -> str:
        """Return a line, counted from 1, or nothing where there is none."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def column_of(self, line: int, offset: int) -> int:
        """Return the column from 1, in characters, of an offset in the UTF-8 bytes of a line."""
        before = self.text_of(line).encode("utf-8", "surrogatepass")[:offset]
        return len(before.decode("utf-8", "ignore")) + 1

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Return what a node is in, the nearest first and the module last."""
        found = []
        current = self.parents.get(node)
        while current is not None:
            found.append(current)
            current = self.parents.get(current)
        return found


def read_source(file: str) -> Source | None:
    """Return a file as a tree, or None where there is no source that this Python can read."""
    try:
        text = _text(file)
        return None if text is None else Source(file, text)
    except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None


def _text(file: str) -> str | None:
    """Return the text of a file, or of a notebook cell that Python keeps under such a name."""
    if file.startswith("<") or not os.path.isfile(file):
        lines = linecache.getlines(file)
        return "".join(lines) if lines else None
    if os.path.getsize(file) > _LARGEST:
        return None
    with open(file, "rb") as stream:
        content = stream.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


def find_call(source: Source, frame: Frame, callee: str | None = None) -> ast.Call | None:
    """Return the call that a frame stands at.

    Where it ends tells calls apart. Without columns the one call of its line is meant, or the
    one to something of the name `callee`.
    """
    if frame.end_line is not None and frame.end_column is not None:
        return source.ends.get((frame.end_line, frame.end_column))
    starting = [node for node in source.calls if node.lineno == frame.line]
    around = [node for node in source.calls if _holds(node, frame.line)]
    for group in (starting, around):
        named = [node for node in group if callee is not None and callee_name(node) == callee]
        if len(named) == 1:
            return named[0]
        if len(group) == 1 and callee is None:
            return group[0]
    if callee is not None and len(starting) == 1:
        return starting[0]
    return None


def _holds(node: ast.Call, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def callee_name(call: ast.Call) -> str | None:
    """Return the last name of what a call calls: `Dense` for `keras.layers.Dense(1)`."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None
