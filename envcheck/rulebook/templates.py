"""Message templates: text with `{name}` places, filled from the bindings of a firing.

Only `{name}` is special, and `{{` and `}}` stand for braces. A template reaches no attribute,
no index and no format, so a rule file can show nothing but its own bindings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envcheck.reasoning.terms import is_iri, value

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["fill", "fill_command", "placeholders", "stray_brace", "words"]

_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}|[{}]")

_PLAIN_WORDS = re.compile(r"[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*"
                          r"(?: [A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*)*")  # fmt: skip
_QUOTED = re.compile(r"[A-Za-z0-9_@%+=:,./<>!~*][A-Za-z0-9_@%+=:,./<>!~* -]*")
"""What may stand between single quotes, where the shell reads only the closing quote."""


def placeholders(template: str) -> list[str]:
    """Return the names in a template, each once, in order."""
    return list(dict.fromkeys(m.group(1) for m in _PART.finditer(template) if m.group(1)))


def stray_brace(template: str) -> bool:
    """Tell whether a brace belongs neither to a `{name}` nor to a pair."""
    return any(match.group() in ("{", "}") for match in _PART.finditer(template))


def fill(template: str, bindings: Mapping[str, str]) -> str:
    """Replace each `{name}` by the words for its term; raises KeyError for an unbound name."""

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        return words(bindings[name]) if name else match.group()[0]

    return _PART.sub(replace, template)


def fill_command(template: str, bindings: Mapping[str, str]) -> str:
    """Fill a shell command; empty if a value could be anything but plain words of it.

    Values come from fingerprints, which may come from anywhere, and people paste commands. A
    place between single quotes also takes a range of versions; no value may look like an option.
    """
    for part in _PART.finditer(template):
        if not part.group(1):
            continue
        quoted = template.count("'", 0, part.start()) % 2 == 1
        allowed = _QUOTED if quoted else _PLAIN_WORDS
        if not allowed.fullmatch(words(bindings[part.group(1)])):
            return ""
    return fill(template, bindings)


def words(term: str) -> str:
    """Return a term as text for people: a literal's value, or an IRI's local name."""
    if is_iri(term):
        return term[1:-1] if term[0] == "<" else term.partition(":")[2]
    shown = value(term)
    return term if isinstance(shown, bool) else str(shown)
