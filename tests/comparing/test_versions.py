"""Versions: the short cuts for plain releases agree with `packaging`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envcheck.versions import compare_versions, distance, is_prerelease, satisfies

_NUMBERS = st.integers(0, 20)
PLAIN = st.lists(_NUMBERS, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
SUFFIXES = ("", "rc1", "a2", ".dev0", ".dev3", ".post1", "+cu121", "+cpu", ".post1.dev2")
VERSIONS = st.builds(
    "{}{}{}".format, st.sampled_from(("", "", "1!", "v")), PLAIN, st.sampled_from(SUFFIXES)
)
OPERATORS = ("==", "!=", ">=", "<=", ">", "<")
CLAUSES = st.one_of(
    st.builds("{}{}".format, st.sampled_from(OPERATORS), PLAIN),
    st.builds("{}{}.*".format, st.sampled_from(("==", "!=")), PLAIN),
    st.builds("~={}.{}".format, PLAIN, _NUMBERS),
)


@given(VERSIONS, VERSIONS)
def test_order_is_that_of_packaging(left: str, right: str) -> None:
    """Plain releases compared without `packaging` come out as with it."""
    a, b = Version(left), Version(right)

    assert compare_versions(left, right) == (a > b) - (a < b)


@given(VERSIONS, VERSIONS)
def test_a_distance_is_named_where_versions_differ(left: str, right: str) -> None:
    """Equal versions have no distance, others have one, the same both ways."""
    assert (distance(left, right) is None) == (Version(left) == Version(right))
    assert distance(left, right) == distance(right, left)


@given(VERSIONS, st.lists(CLAUSES, max_size=3).map(",".join))
def test_specifiers_are_those_of_packaging(version: str, specifier: str) -> None:
    """Clauses decided without `packaging` come out as with it."""
    expected = SpecifierSet(specifier).contains(version, prereleases=True)

    assert satisfies(version, specifier) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1.0", "1.0.0", None),
        ("1.26.4", "1.26.3", "patch"),
        ("1.26", "1.26.1", "patch"),
        ("1.5.2", "1.3.2", "minor"),
        ("1.5.2", "2.0.0", "major"),
        ("1", "2", "major"),
        ("1!2.0", "3.0", "epoch"),
        ("2.0.0rc1", "2.0.0", "pre"),
        ("2.0.0rc1", "2.0.0rc2", "pre"),
        ("2.16.0rc0", "2.16.1", "patch"),
        ("1.0", "1.0.post1", "post"),
        ("1.6.0", "1.6.0+cu101", "local"),
        ("2.4.0+cu121", "2.4.0+cpu", "local"),
        ("4.10.0.82", "4.10.0.84", "patch"),
        ("0.30.6", "0.24.0", "minor"),
        ("junk", "1.0", None),
    ],
)
def test_distance(left: str, right: str, expected: str | None) -> None:
    """The first component that differs counts."""
    assert distance(left, right) == expected
    assert distance(right, left) == expected


@pytest.mark.parametrize("name", ["certifi", "pytz", "tzdata", "flatbuffers"])
def test_a_year_is_no_major_version(name: str) -> None:
    """A calendar version moves its year as others move their minor release."""
    assert distance("2023.11.17", "2026.1.4", name) == "minor"
    assert distance("2026.1.4", "2026.2.1", name) == "patch"
    assert distance("2023.11.17", "2026.1.4", "numpy") == "major"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("1.0", "1.0.0", 0), ("v1.0", "1.0", 0), ("1.10", "1.9", 1), ("junk", "junk", 0),
     ("junk", "1.0", None), ("1.0", "", None), ("1!0.1", "9", 1)],
)  # fmt: skip
def test_order(left: str, right: str, expected: int | None) -> None:
    """What is no version has no order, except to itself."""
    assert compare_versions(left, right) == expected


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
    [
        ("1.0", "", True),
        ("1.0", ">=junk", None),
        ("junk", ">=1", None),
        ("2.3.1", "<2.3,>=1.22", False),
        ("1.4.0+acme1", "==1.4.0", True),
        ("1.5.0rc1", ">=1.2.0", True),
        ("3.11.7", "!=3.11.*", False),
    ],
)
def test_satisfies(version: str, specifier: str, expected: bool | None) -> None:
    """Undecidable is neither yes nor no."""
    assert satisfies(version, specifier) is expected


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.0", False), ("1.0rc1", True), ("1.0.dev1", True), ("1.0.post1", False), ("junk", False)],
)
def test_prerelease(version: str, expected: bool) -> None:
    """Release candidates and development releases are pre-releases."""
    assert is_prerelease(version) is expected
