"""Markers decided here come out as `packaging` has them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.markers import InvalidMarker, Marker

from envcheck.comparing.markers import decide
from envcheck.comparing.requirements import marker_environment
from tests.comparing.sides import side

VALUES = {
    "python_version": ("3.8", "3.11", "3.11.7", "3.12", "3", "3.11.*", "3.12rc1", ""),
    "python_full_version": ("3.11.7", "3.11", "3.12.0b1", "3.11.7.0"),
    "sys_platform": ("win32", "linux", "darwin", "linux2", "2"),
    "platform_system": ("Linux", "Windows", "linux", "v2"),
    "platform_machine": ("x86_64", "arm64", "AMD64", "aarch64"),
    "implementation_name": ("cpython", "pypy"),
    "platform_python_implementation": ("CPython", "PyPy"),
    "os_name": ("posix", "nt"),
    "platform_release": ("6.1", "6.1.0"),
    "extra": ("dev", "test_all", "a-b", ""),
}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "~=", "===")
COMPARISONS = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.tuples(
        st.just(name),
        st.sampled_from(OPERATORS),
        st.sampled_from(VALUES[name]),
        st.sampled_from("\"'"),
        st.booleans(),
        st.sampled_from(("", " ")),
    )
)


def spelled(part: tuple[str, str, str, str, bool, str]) -> str:
    """Return a comparison as text; some are the wrong way round."""
    name, operator, value, quote, turned, space = part
    literal = f"{quote}{value}{quote}"
    left, right = (literal, name) if turned and value else (name, literal)
    space = " " if operator[0].isalpha() or operator == "not in" else space
    return f"{left}{space}{operator}{space}{right}"


MARKERS = st.recursive(
    COMPARISONS.map(spelled),
    lambda inner: st.one_of(
        st.builds("{} and {}".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
        inner.map("({})".format),
        inner.map("( {} )".format),
    ),
    max_leaves=6,
)
SIDES = (
    side(),
    side(python_version="3.8.18", os_system="windows"),
    side(python_version="3.12.0", python_implementation="pypy", os_system="darwin"),
)


@given(MARKERS, st.sampled_from(SIDES))
@example('python_version < "3.9" or sys_platform == "linux" and os_name == "nt"', SIDES[0])
@example('(python_version < "3.9" or sys_platform == "linux") and os_name == "nt"', SIDES[0])
@example('os_name=="posix"and(python_version>="3")', SIDES[0])
def test_an_answer_is_that_of_packaging(marker: str, where: object) -> None:
    """Whatever is decided without `packaging` comes out the same with it."""
    environment = marker_environment(where)  # type: ignore[arg-type]
    assert environment is not None
    answer = decide(marker, environment)
    if answer is None:
        return

    assert answer == Marker(marker).evaluate(dict(environment))


@pytest.mark.parametrize(
    "marker",
    [
        'python_version < "3.9"',
        "sys_platform == 'win32' or (python_version >= '3.8' and os_name != 'nt')",
        'platform_python_implementation != "PyPy" and extra == "dev"',
        'implementation_name == "cpython" and ((platform_system == "Linux"))',
    ],
)
def test_the_usual_shapes_are_decided(marker: str) -> None:
    """What real distributions write needs no `packaging`."""
    environment = marker_environment(side())
    assert environment is not None

    assert decide(marker, environment) is not None


@pytest.mark.parametrize(
    "marker",
    [
        "", "and", "()", "(", ")", 'os_name == "nt" and', 'os_name == "nt" os_name == "nt"',
        '(os_name == "nt"', 'os_name == "nt")', 'os_name == "nt" or or os_name == "nt"',
        'not os_name == "nt"', 'os_name == "n\'t"', 'colour == "red"', 'os_name ("nt")',
        '"nt" == os_name', '(os_name == "nt") (os_name == "nt")', 'os_name == "nt" (',
    ],
)  # fmt: skip
def test_other_texts_are_left_alone(marker: str) -> None:
    """No answer is guessed for junk, and none for what has another shape."""
    environment = marker_environment(side())
    assert environment is not None

    assert decide(marker, environment) is None
    try:
        Marker(marker)
    except InvalidMarker:
        return
    assert marker.startswith('"') or "'" in marker
