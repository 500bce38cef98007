"""The rule index is complete, closed and agrees with the rules."""

from __future__ import annotations

import pytest

from envcheck.errors import RuleError
from envcheck.rulebook import Rulebook
from envcheck.rulebook.index import check_index, read_index
from tests.rulebook.rulefile import GOOD, compile_text

ENTRY = {
    "fault": "older-reader-than-writer",
    "category": "library",
    "component": "deployment",
    "severity": "error",
    "fl4deep": "LibraryVersionMismatch",
}


def test_entry() -> None:
    """An entry has its fields; terms of other tools are optional."""
    entry = read_index({"ENV031": ENTRY})["ENV031"]

    assert (entry.category, entry.fl4deep, entry.deepfd) == (
        "library",
        "LibraryVersionMismatch",
        "",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category": "misc"}, "ENV031: unknown category 'misc'"),
        ({"component": "x"}, "ENV031: unknown component 'x'"),
        ({"severity": "bad"}, "ENV031: unknown severity 'bad'"),
        ({"colour": "red"}, "ENV031: unknown field colour"),
        ({"fault": 1}, "ENV031: fault is not a text"),
    ],
)
def test_bad_entry(change: dict[str, object], message: str) -> None:
    """Every mistake is named."""
    with pytest.raises(RuleError, match=message):
        read_index({"ENV031": {**ENTRY, **change}})


def test_missing_field() -> None:
    """Required fields are required, and an entry is an object."""
    with pytest.raises(RuleError, match="ENV031: fault is missing\nENV032: not an object"):
        read_index({"ENV032": [], "ENV031": {k: v for k, v in ENTRY.items() if k != "fault"}})


def test_agreement() -> None:
    """A rule that is not listed, or listed otherwise, is reported."""
    rulebook = Rulebook.from_data(compile_text(GOOD))

    assert check_index(read_index({"ENV031": ENTRY}), rulebook) == []
    assert check_index({}, rulebook) == ["test.n3:10: ENV031 is not in the rule index"]
    other = read_index({"ENV031": {**ENTRY, "severity": "info"}})
    assert check_index(other, rulebook) == [
        "test.n3:10: ec:severity is 'error', the index says 'info'"
    ]
