"""The line of each key of a TOML document."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envcheck.configuration.lines import Path, lines_of

DOCUMENT = '''\
# a comment with [brackets] and = signs
top = 1
"quoted key" = """
two
lines \\""" still the string""""
'single.key' = 'x'  # after it

[policy.drift]
numpy = "minor"
"role:preprocess" = "patch"
a.b.c = 1

[[waivers]]
rule = "ENV001"
[waivers.more]
x = 1
[[waivers]]
rule = """ENV002"""

[policy]
require = [
    "one",  # ]
    "two", ["three",
     "four"],
]
roles = { a = "x", "b.c" = { d = [1, 2] } }
last = \'\'\'
]]\'\'\'
end = 2026-12-31
'''
EXPECTED: dict[Path, int] = {
    ("top",): 2,
    ("quoted key",): 3,
    ("single.key",): 6,
    ("policy",): 8,
    ("policy", "drift"): 8,
    ("policy", "drift", "numpy"): 9,
    ("policy", "drift", "role:preprocess"): 10,
    ("policy", "drift", "a", "b", "c"): 11,
    ("waivers", 0): 13,
    ("waivers", 0, "rule"): 14,
    ("waivers", 0, "more", "x"): 16,
    ("waivers", 1): 17,
    ("waivers", 1, "rule"): 18,
    ("policy", "require"): 21,
    ("policy", "require", 0): 22,
    ("policy", "require", 1): 23,
    ("policy", "require", 2): 23,
    ("policy", "require", 2, 0): 23,
    ("policy", "require", 2, 1): 24,
    ("policy", "roles", "a"): 26,
    ("policy", "roles", "b.c", "d"): 26,
    ("policy", "last"): 27,
    ("policy", "end"): 29,
}


@pytest.mark.parametrize("path", EXPECTED)
def test_lines(path: Path) -> None:
    """Counted by hand in a document with every kind of string, table and list."""
    assert lines_of(DOCUMENT)[path] == EXPECTED[path]


def test_every_key_has_a_line() -> None:
    """What `tomllib` reads and what the scanner finds are the same keys."""
    assert _paths(tomllib.loads(DOCUMENT)) <= set(lines_of(DOCUMENT))


keys = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
values = st.recursive(
    st.one_of(st.integers(-9, 9), st.booleans(), keys),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_any_document_keeps_all_its_keys(data: dict[str, Any]) -> None:
    """Whatever is written, one key per line, is found on that line."""
    text = "".join(f"{_quoted(key)} = {_written(value)}\n" for key, value in data.items())
    found = lines_of(text)

    assert tomllib.loads(text) == data
    assert _paths(data) == set(found)
    assert [found[(key,)] for key in data] == list(range(1, len(data) + 1))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_quoted(key)} = {_written(item)}" for key, item in value.items())
        return "{" + inside + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else _quoted(value)


def _paths(value: Any, above: Path = ()) -> set[Path]:
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    found: set[Path] = set()
    for key, inner in items:
        found |= {(*above, key)} | _paths(inner, (*above, key))
    return found
