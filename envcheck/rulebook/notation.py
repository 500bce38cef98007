"""N3 on rdflib's parser, keeping what its graphs forget: the order of triples and their lines.

Import this module lazily: it is the only one that needs rdflib.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rdflib.plugins.parsers.notation3 import (  # noqa: TID253
    BadSyntax,
    RDFSink,
    SinkParser,
    sfloat,
)

from envcheck.reasoning.terms import ROOT, decimal, full_iri, integer, short_iri, string

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BLANK", "Formula", "Node", "Statement", "parse"]

BLANK = "_:blank"
"""Any blank node: the profile has none, so they need not be told apart."""

Node = Any
"""A term (`str`), a list (`tuple`) or a `Formula`."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_RELATIVE = "http://relative.invalid/"
_RESTART = re.compile(r"\n(?=[A-Za-z@<])")
_NOT_BOUND = re.compile(r'Prefix "(.*?):" not bound')
_REFUSED = {
    "@forAll": "write variables as ?name",
    "@forSome": "write variables as ?name",
    "@keywords": "write prefixed names in full",
    "@base": "write IRIs in full or with a prefix",
}


@dataclass(slots=True, eq=False)
class Formula:
    """A conjunction in braces, or the whole file."""

    statements: list[Statement] = field(default_factory=list)

    def close(self) -> Formula:
        """Return the formula (the parser calls this)."""
        return self

    def newUniversal(self, name: str, *_: object, **__: object) -> str:  # noqa: N802
        """Return a variable (the parser calls this)."""
        return _Term("?" + name.rpartition("#")[2])


@dataclass(slots=True, eq=False)
class Statement:
    """One triple as written, with the line of its predicate."""

    subject: Node
    predicate: Node
    object: Node
    line: int


class _Term(str):
    """A term of ours on its way through the parser, where other strings are whole IRIs."""

    __slots__ = ()


def parse(text: str, note: Callable[[int, str, str], None]) -> list[Statement]:
    """Parse a file; calls `note(line, message, hint)` for what cannot be read."""
    parser = _Parser(text, note)
    parser.loadBuf(text)
    statements: list[Statement] = parser.root.statements
    return statements


class _Sink(RDFSink):
    """Makes terms, lists and formulas of ours out of what the parser finds."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self.note = note

    def newFormula(self) -> Any:  # noqa: N802
        return Formula()

    def newSymbol(self, *args: str) -> Any:  # noqa: N802
        return args[0]

    def newBlankNode(self, *_: object, **__: object) -> Any:  # noqa: N802
        return _Term(BLANK)

    def newList(self, n: list[Any], f: Any) -> Any:  # noqa: ARG002, N802
        return tuple(self.node(item) for item in n)

    def newLiteral(self, s: str, dt: Any, lang: str | None) -> Any:  # noqa: N802
        if lang:
            self.note(f"language tag @{lang}", "write the string without it")
        return _Term(self.typed(s, str(dt)) if dt else string(s))

    def bind(self, *_: object) -> None:
        """Take no notice: the parser itself resolves prefixes."""

    def setDefaultNamespace(self, *_: object) -> str:  # noqa: N802
        return ""

    def typed(self, text: str, datatype: str) -> str:
        """Return the term of a typed literal."""
        kind = datatype.removeprefix(_XSD)
        try:
            if kind in ("integer", "int", "long", "nonNegativeInteger"):
                return integer(int(text))
            if kind in ("decimal", "double", "float"):
                return decimal(float(text))
        except ValueError:
            self.note(f"{text!r} is no {kind}", "")
            return string(text)
        if kind == "boolean" and text in ("true", "false"):
            return text
        if kind != "string":
            self.note(
                f"literal of type <{datatype}>",
                "the profile has strings, integers, decimals, doubles and booleans",
            )
        return string(text)

    def node(self, found: Any) -> Node:
        """Return the node for anything the parser found."""
        if isinstance(found, _Term):
            return str(found)
        if isinstance(found, Formula):
            return found
        if isinstance(found, tuple):  # a list, or (0, IRI) for the parser's own keywords
            return self.iri(found[1]) if found[:1] == (0,) else found
        if isinstance(found, bool):
            return "true" if found else "false"
        if isinstance(found, int):
            return integer(found)
        if isinstance(found, str) and not isinstance(found, sfloat):
            return self.iri(found)
        try:
            return decimal(float(found))
        except ValueError:
            self.note(f"the number {found} is too large", "")
            return "0"

    def iri(self, text: str) -> str:
        """Return the term of a whole IRI, which must be spelled as engines compare it."""
        if text.startswith(_RELATIVE):
            written = text.removeprefix(_RELATIVE)
            self.note(f"relative IRI <{written}>", "write the IRI in full or with a prefix")
            return f"<{written}>"
        term = short_iri(text)
        if full_iri(term) != text:
            self.note(f"<{text}> is not in canonical form", f"write <{full_iri(term)}>")
        return term


class _Parser(SinkParser):
    """Goes on after a mistake, and knows the line of every triple."""

    def __init__(self, text: str, note: Callable[[int, str, str], None]) -> None:
        self._sink = _Sink(self._note)
        super().__init__(self._sink, baseURI=_RELATIVE)
        self.root: Any = self._formula
        self._lines = [match.start() for match in re.finditer("\n", text)]
        self._tell = note
        self._at = 0

    def _note(self, message: str, hint: str = "", at: int | None = None) -> None:
        position = self._at if at is None else at
        self._tell(1 + bisect_right(self._lines, position - 1), message, hint)

    def feed(self, octets: Any) -> None:
        """Parse statement by statement; after a mistake go on at the next one."""
        at = 0
        while (at := self.skipSpace(octets, at)) >= 0:
            before = len(self.root.statements)
            try:
                end = self.directiveOrStatement(octets, at)
                if end < 0:
                    self.BadSyntax(octets, at, "expected a statement")
            except (BadSyntax, AssertionError, IndexError, ValueError, RecursionError) as error:
                del self.root.statements[before:]
                end = self._recover(octets, at, error)
            at = end

    def _recover(self, text: str, start: int, error: Exception) -> int:
        self._context, self._parentContext = self.root, None
        self._variables, self._parentVariables = {}, {}
        why = str(getattr(error, "_why", "")) or "this cannot be read"
        position = max(start, int(getattr(error, "_i", self._at)))
        if unbound := _NOT_BOUND.match(why):
            prefix = unbound.group(1)
            hint = f"add: @prefix {prefix}: <{ROOT}{prefix}:> ."
            self._note(f"unknown prefix '{prefix}:'", hint, position)
            self._bindings[prefix] = f"{ROOT}{prefix}:"
            return start
        self._note(f"syntax error: {why}", "", position)
        restart = _RESTART.search(text, position)
        return restart.end() if restart else len(text)

    def directive(self, argstr: str, i: int) -> int:
        """Parse a directive; refuse those that would change what names mean."""
        for word, hint in _REFUSED.items():
            if argstr.startswith(word, i):
                self._note(f"{word} is not part of the profile", hint, i)
        return super().directive(argstr, i)

    def verb(self, argstr: str, i: int, res: Any) -> int:
        """Parse a predicate; refuse backward rules."""
        at = self.skipSpace(argstr, i)
        if at >= 0 and argstr.startswith("<=", at):
            self._note("backward rule '<='", "write { body } => { head }", at)
        return super().verb(argstr, i, res)

    def objectList(self, argstr: str, i: int, res: Any) -> int:  # noqa: N802
        """Parse the objects of a predicate; remember where it stands."""
        self._at = i
        end = super().objectList(argstr, i, res)
        self._at = i
        return end

    def makeStatement(self, quadruple: Any) -> None:  # noqa: N802
        """Keep a triple."""
        formula, predicate, subject, object_ = quadruple
        node = self._sink.node
        line = 1 + bisect_right(self._lines, self._at - 1)
        formula.statements.append(Statement(node(subject), node(predicate), node(object_), line))
