"""Hypothesis strategies for facts and whole fingerprints, made from the catalogue of keys.

Every value is of its declared type, and nothing else about it is realistic: a rule, a report
and a reader have to stand whatever a file may hold.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from envcheck.catalogue import KEYS
from envcheck.facts import ERROR, NOT_APPLICABLE, OK, UNKNOWN, Fact
from envcheck.fingerprint import Fingerprint

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from envcheck.facts import Key

__all__ = ["facts", "fingerprints", "hostile_text", "json_values"]

NASTY = "\x00\x07\x1b[31m\x7f\x85\u200b\u202e\u2066\ud800\U000e0001\n\r\t\\\"'<>&|%$`\u00e9\u4e2d"
_NAMES = ("numpy", "scikit-learn", "tensorflow", "a-b-c", "x", "onnxruntime", "certifi")
_VERSIONS = ("1.0", "1.0.0", "1.26.4", "2.0.0rc1", "2024.7.4", "0.4.1+cu121", "1!2", "junk", "")


def hostile_text() -> SearchStrategy[str]:
    """Return text of any characters, the troublesome ones often."""
    return st.text(st.one_of(st.characters(codec=None), st.sampled_from(NASTY)), max_size=12)


def json_values() -> SearchStrategy[Any]:
    """Return any JSON value that a fingerprint may hold under a key we do not know."""
    scalars = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63),
        st.floats(allow_nan=False, allow_infinity=False),
        hostile_text(),
    )
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(hostile_text(), inner, max_size=3)
        ),
        max_leaves=6,
    )


def _values(kind: Any, members: Any = None) -> SearchStrategy[Any]:
    """Return values of a declared type: a word, a dict of fields, or a list of one."""
    if isinstance(kind, dict):
        return _values("object", kind)
    if isinstance(kind, list):
        return _values("list[object]", kind[0])
    if kind.startswith("list["):
        return st.lists(_values(kind[5:-1], members), max_size=3)
    if kind == "object":
        declared = {name: _values(inner) for name, (inner, _) in (members or {}).items()}
        return st.fixed_dictionaries({}, optional=declared)
    return {
        "string": st.one_of(hostile_text(), st.sampled_from(_VERSIONS)),
        "integer": st.one_of(st.integers(0, 64), st.integers(-(2**63), 2**63)),
        "number": st.one_of(st.integers(0, 64), st.floats(allow_nan=False, allow_infinity=False)),
        "boolean": st.booleans(),
    }[kind]


def facts(value: SearchStrategy[Any]) -> SearchStrategy[Fact]:
    """Return facts in every state, with values from the given strategy."""
    known = st.builds(Fact, st.just(OK), value, st.just(""), st.sampled_from(("", "a file")))
    open_ones = st.builds(Fact, st.sampled_from((UNKNOWN, ERROR)), reason=hostile_text())
    absent = st.builds(Fact, st.just(NOT_APPLICABLE), reason=st.sampled_from(("", "none here")))
    return st.one_of(known, known, known, open_ones, absent)


def _declared(key: Key) -> SearchStrategy[Fact]:
    return facts(_values(key.type, key.fields))


def _family_members(key: Key) -> SearchStrategy[dict[str, Fact]]:
    head = key.name[:-1]
    names = st.sampled_from(_NAMES) | st.text("abcxyz019.-_", min_size=1, max_size=8)
    return st.dictionaries(names.map(lambda name: head + name), _declared(key), max_size=4)


@cache
def fingerprints() -> SearchStrategy[Fingerprint]:
    """Return whole fingerprints: any part of the catalogue, families, keys of third parties."""
    single = [key for key in KEYS.values() if not key.name.endswith("*")]
    entries = [st.tuples(st.just(key.name), _declared(key)) for key in single]
    strangers = st.sampled_from(("acme.licence", "zz.top", "os.colour"))
    parts = [
        st.lists(st.one_of(entries), max_size=25).map(dict),
        *(_family_members(key) for key in KEYS.values() if key.name.endswith("*")),
        st.dictionaries(strangers, facts(json_values()), max_size=2),
    ]
    return st.builds(_join, st.tuples(*parts), envelopes())


def _join(parts: tuple[dict[str, Fact], ...], envelope: dict[str, Any]) -> Fingerprint:
    found = {key: fact for part in parts for key, fact in part.items()}
    return Fingerprint(dict(sorted(found.items())), envelope)


def envelopes() -> SearchStrategy[dict[str, Any]]:
    """Return envelopes, also empty ones and ones with members that we do not know."""
    return st.fixed_dictionaries(
        {},
        optional={
            "created": hostile_text(),
            "role": st.sampled_from(("train", "deploy", "")),
            "tool": st.sampled_from(("envcheck 0.1.0", "envcheck 9.9")),
            "ticket": json_values(),
        },
    )
