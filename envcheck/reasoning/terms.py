"""Terms: every node of the graph is one `str`, told apart by its first character.

    ec:older   pkg:numpy     an IRI in short form: `prefix:local`
    <http://example.org/x>   an IRI outside our namespaces
    "text                    a string: a double quote, then the text as it is
    7   -7                   an integer
    1.5   1.0   1e-05        a decimal or double
    true   false             a boolean
    ?name                    a variable, in rules only

Plain strings hash fast, sort the same everywhere and go through JSON unchanged. Two terms
are the same node exactly if the strings are equal, so `1`, `1.0`, `true` and `"1` are four
nodes, as in N3; `number` gives the value that the math built-ins compare.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = [
    "FALSE",
    "NAMESPACES",
    "ROOT",
    "TRUE",
    "TYPE",
    "boolean",
    "decimal",
    "full_iri",
    "integer",
    "iri",
    "is_iri",
    "is_string",
    "is_variable",
    "literal",
    "number",
    "short_iri",
    "string",
    "to_n3",
    "value",
]

ROOT = "urn:envcheck:"
"""`ec:older` is `<urn:envcheck:ec:older>`: every prefix of ours lies below this root."""

NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "log": "http://www.w3.org/2000/10/swap/log#",
    "math": "http://www.w3.org/2000/10/swap/math#",
    "string": "http://www.w3.org/2000/10/swap/string#",
    "list": "http://www.w3.org/2000/10/swap/list#",
}
"""The prefixes that are not ours."""

TYPE = "rdf:type"
TRUE = "true"
FALSE = "false"

_NUMBER_START = frozenset("-0123456789")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PREFIX = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def iri(prefix: str, local: str) -> str:
    """Return the term `prefix:local`; `local` may hold any characters."""
    if not local or not prefix[:1].isalpha() or not _PREFIX.issuperset(prefix):
        raise ValueError(f"not a short IRI: {prefix!r}, {local!r}")
    return f"{prefix}:{local}"


def string(text: str) -> str:
    """Return the string literal `text`."""
    return '"' + text


def integer(number: int) -> str:
    """Return the integer literal `number`."""
    return str(int(number))


def decimal(number: float) -> str:
    """Return the decimal literal `number`, which must be finite."""
    number = float(number)
    if number - number != 0.0:
        raise ValueError(f"only finite numbers are terms, not {number!r}")
    return repr(number + 0.0)  # -0.0 and 0.0 are one term


def boolean(truth: bool) -> str:
    """Return the boolean literal `truth`."""
    return TRUE if truth else FALSE


def literal(data: str | bool | float) -> str:
    """Return the literal for a Python value, by its type."""
    if isinstance(data, bool):
        return TRUE if data else FALSE
    if isinstance(data, str):
        return '"' + data
    return integer(data) if isinstance(data, int) else decimal(data)


def is_string(term: str) -> bool:
    """Tell whether `term` is a string literal."""
    return term[0] == '"'


def is_variable(term: str) -> bool:
    """Tell whether `term` is a variable."""
    return term[0] == "?"


def is_iri(term: str) -> bool:
    """Tell whether `term` is an IRI."""
    return term[0] == "<" or (":" in term and term[0] not in '"?_' and term[0] not in _NUMBER_START)


@lru_cache(maxsize=1 << 16)
def number(term: str) -> int | float | None:
    """Return the value of a numeric literal, None for any other term."""
    if term[0] not in _NUMBER_START:
        return None
    if "." in term or "e" in term:
        return float(term)
    return int(term)


def value(term: str) -> str | bool | int | float:
    """Return the Python value of a literal, or the short form of an IRI."""
    if term[0] == '"':
        return term[1:]
    if term in (TRUE, FALSE):
        return term == TRUE
    numeric = number(term)
    return term if numeric is None else numeric


def full_iri(term: str) -> str:
    """Return the whole IRI of an IRI term, without angle brackets."""
    if term[0] == "<":
        return term[1:-1]
    prefix, _, local = term.partition(":")
    if prefix in NAMESPACES:
        return NAMESPACES[prefix] + local
    if not _PLAIN.issuperset(local):
        local = "".join(c if c in _PLAIN else _percent(c) for c in local)
    return f"{ROOT}{prefix}:{local}"


def short_iri(text: str) -> str:
    """Return the term of a whole IRI: the inverse of `full_iri`."""
    if text.startswith(ROOT):
        prefix, _, local = text[len(ROOT) :].partition(":")
        if local and prefix[:1].isalpha() and _PREFIX.issuperset(prefix):
            return f"{prefix}:{_unquote(local)}"
    for prefix, namespace in NAMESPACES.items():
        if text.startswith(namespace) and len(text) > len(namespace):
            return f"{prefix}:{text[len(namespace) :]}"
    return f"<{text}>"


def to_n3(term: str) -> str:
    """Return `term` as N3 text that reads back as the same term under any prefixes."""
    first = term[0]
    if first == '"':
        return f'"{"".join(_escape(c) for c in term[1:])}"'
    if first == "?" or first in _NUMBER_START:
        mantissa, exponent, power = term.partition("e")
        if first != "?" and exponent and "." not in mantissa:
            return f"{mantissa}.0e{power}"
        return term
    return term if term in (TRUE, FALSE) else f"<{full_iri(term)}>"


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return f"\\u{code:04X}"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else character


def _percent(character: str) -> str:
    raw = character.encode("utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in raw)


def _unquote(text: str) -> str:
    if "%" not in text:
        return text
    first, *parts = text.encode("utf-8", "surrogatepass").split(b"%")
    out = bytearray(first)
    for part in parts:
        try:
            out += bytes.fromhex(part[:2].decode("ascii")) + part[2:]
        except (ValueError, UnicodeDecodeError):
            out += b"%" + part
    return out.decode("utf-8", "surrogatepass")
