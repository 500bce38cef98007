"""Facts and compiled rules as N3 text, and the ground triples of N3 output as terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envcheck.errors import InputError
from envcheck.reasoning.built_ins import IN, NOT_INCLUDES
from envcheck.reasoning.terms import (
    FALSE,
    NAMESPACES,
    TRUE,
    TYPE,
    decimal,
    integer,
    short_iri,
    string,
    to_n3,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envcheck.reasoning.implication import Body, Implication
    from envcheck.reasoning.store import Triple

__all__ = ["facts_to_n3", "read_triples", "rules_to_n3"]


def facts_to_n3(triples: Iterable[Triple]) -> str:
    """Return one triple per line, sorted, with whole IRIs."""
    return "".join(f"{_triple(t)} .\n" for t in sorted(triples))


def rules_to_n3(rules: Iterable[Implication]) -> str:
    """Return one implication per line, each part after those that bind its variables."""
    return "".join(f"{_implication(rule)} .\n" for rule in sorted(rules, key=lambda r: r.key))


def read_triples(text: str) -> Iterator[Triple]:
    """Yield the ground triples of EYE's output.

    Raises InputError for anything else but prefix declarations.
    """
    at = 0
    while at < len(text):
        match = _STATEMENT.match(text, at)
        if match is None:
            raise InputError(f"not a ground triple: {text[at : at + 200]}")
        if match.group(1):
            subject, predicate, object_ = (_read_term(match.group(i)) for i in (1, 2, 3))
            yield subject, predicate, object_
        at = match.end()


def _implication(rule: Implication) -> str:
    parts = [_body(rule)]
    for i, body in enumerate(rule.negations):
        parts.append(f"?SCOPE__{i} {_predicate(NOT_INCLUDES)} {{ {_body(body)} }}")
    heads = " . ".join(_triple(head) for head in rule.heads)
    return f"{{ {' . '.join(parts)} }} => {{ {heads} }}"


def _body(body: Body) -> str:
    parts = [_triple(pattern) for pattern in body.patterns]
    for term, items in body.memberships:
        listed = " ".join(to_n3(item) for item in items)
        parts.append(f"{to_n3(term)} {_predicate(IN)} ({listed})")
    return " . ".join([*parts, *(_triple(comparison) for comparison in body.comparisons)])


def _triple(triple: Triple) -> str:
    subject, predicate, object_ = triple
    return f"{to_n3(subject)} {_predicate(predicate)} {to_n3(object_)}"


def _predicate(term: str) -> str:
    return "a" if term == TYPE else to_n3(term)


_IRI = r"<[^<>\s]*>"
_STRING = r'"(?:[^"\\]|\\.)*"'
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LONG = r'"{3}(?s:.*?)"{3}(?=\s*\.\s*\n)'  # EYE 22: nothing in it is escaped
_TERM = rf"(?:{_IRI}|{_LONG}|{_STRING}(?:\^\^{_IRI})?|{_NUMBER}|true|false)"
_STATEMENT = re.compile(
    rf"[ \t]*(?:({_TERM})[ \t]+({_IRI}|a)[ \t]+({_TERM})[ \t]*\.|@prefix[^\n]*)?[ \t]*\n"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _read_term(text: str) -> str:
    if text[0] == "<":
        return short_iri(text[1:-1])
    if text == "a":
        return TYPE
    if text in (TRUE, FALSE):
        return text
    if text[0] != '"':
        return _read_number(text)
    if text.startswith('"""'):
        return string(text[3:-3])
    closing = text.rindex('"')
    content = _ESCAPE.sub(_unescape, text[1:closing])
    datatype = text[closing + 4 : -1].removeprefix(NAMESPACES["xsd"])
    if datatype in ("integer", "decimal", "double"):
        return _read_number(content)
    return content if datatype == "boolean" else string(content)


def _read_number(text: str) -> str:
    whole = text.lstrip("+-").isdigit()
    return integer(int(text)) if whole else decimal(float(text))


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2)
    if code:
        return chr(int(code, 16))
    return _CONTROLS.get(match.group(3), match.group(3))
