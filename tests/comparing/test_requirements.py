"""Requires-Dist lines and their markers."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from envcheck.comparing.requirements import applies, marker_environment, parse_requirement
from envcheck.facts import unknown
from tests.comparing.sides import side

LINES = (
    "numpy",
    "numpy>=1.19.5",
    "numpy >=1.21.6",
    "numpy (>=1.21.6)",
    "numpy<2.3,>=1.22.4",
    "uvicorn[standard]>=0.12.0",
    'PyYAML==6.0.3; extra == "yaml"',
    'numpy >=1.26.0 ; python_version >= "3.12"',
    "typing_extensions!=4.6,~=4.5",
    'zope.interface >= 3 ; (sys_platform != "win32" and python_version < "3.11") and extra == "x"',
)
MARKERS = (
    'python_version >= "3.9"',
    'python_version < "3.10"',
    'python_full_version < "3.11.7"',
    'sys_platform == "win32"',
    'sys_platform != "win32" and platform_machine == "x86_64"',
    'platform_system == "Linux"',
    '(python_version <= "3.9" and platform_system == "Darwin") or os_name == "posix"',
    'implementation_name == "cpython"',
    'platform_python_implementation == "PyPy"',
    'extra == "tests"',
    'python_version < "3.11" or extra == "tests"',
)


@pytest.mark.parametrize("line", LINES)
def test_lines_are_read_as_packaging_reads_them(line: str) -> None:
    """The usual shapes, split here, come out as `packaging` has them."""
    ours, theirs = parse_requirement(line), Requirement(line)

    assert ours is not None
    assert ours.name == theirs.name.lower().replace("_", "-").replace(".", "-")
    assert {part for part in ours.specifier.split(",") if part} == {
        str(part) for part in theirs.specifier
    }
    assert bool(ours.marker) == bool(theirs.marker)


@pytest.mark.parametrize("line", ["numpy @ https://example.org/numpy.whl", "???", ""])
def test_lines_that_require_no_version(line: str) -> None:
    """An address cannot be judged by its version, and junk not at all."""
    assert parse_requirement(line) is None


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"python_version": "3.9.18"},
        {"cpu_architecture": "AMD64"},
        {"os_system": "darwin", "cpu_architecture": "aarch64"},
        {"os_system": "windows"},
        {"python_implementation": "pypy"},
        {"python_version": "3.13.0+"},
    ],
)
def test_markers_mean_what_packaging_says(marker: str, facts: dict[str, Any]) -> None:
    """The short cuts decide as `packaging` does, without extras."""
    environment = marker_environment(side(**facts))
    assert environment is not None

    assert applies(marker, environment) == Marker(marker).evaluate(dict(environment))


@pytest.mark.parametrize(
    ("facts", "name", "expected"),
    [
        ({"cpu_architecture": "AMD64"}, "platform_machine", "x86_64"),
        ({"os_system": "windows"}, "platform_machine", "AMD64"),
        ({"os_system": "darwin", "cpu_architecture": "aarch64"}, "platform_machine", "arm64"),
        ({"os_system": "Linux"}, "sys_platform", "linux"),
        ({"python_version": "3.14.0rc2"}, "python_version", "3.14"),
        ({"python_version": "3.14.0rc2"}, "python_full_version", "3.14.0"),
        ({"python_implementation": "pypy"}, "platform_python_implementation", "PyPy"),
    ],
)
def test_the_variables(facts: dict[str, Any], name: str, expected: str) -> None:
    """Variables are spelled as each system spells them."""
    environment = marker_environment(side(**facts))

    assert environment is not None
    assert environment[name] == expected


@pytest.mark.parametrize("key", ["python_version", "os_system"])
def test_too_little_is_known(key: str) -> None:
    """Without interpreter or system no marker can be judged."""
    assert marker_environment(side(None, **{key: unknown("masked")})) is None


def test_a_marker_that_is_none() -> None:
    """Junk is neither true nor false."""
    environment = marker_environment(side())

    assert environment is not None
    assert applies("colour == 'red'", environment) is None
