"""Wheel tags against a host."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.tags import compatible_tags, cpython_tags

from envcheck.comparing.wheels import wheel_problem
from envcheck.facts import not_applicable, unknown
from tests.comparing.sides import side

MAC = {"os_system": "darwin", "os_libc_family": not_applicable(), "os_libc_version": None}
MUSL = {"os_libc_family": "musl", "os_libc_version": "1.2.4"}


@pytest.mark.parametrize(
    ("tag", "facts"),
    [
        ("py3-none-any", {}),
        ("py2.py3-none-any", {}),
        ("cp311-cp311-manylinux_2_17_x86_64", {}),
        ("cp311-cp311-manylinux2014_x86_64", {"os_libc_version": "2.17"}),
        ("cp311-cp311-manylinux_2_36_x86_64", {}),
        ("cp311-cp311-linux_x86_64", {}),
        ("cp37-abi3-manylinux_2_17_x86_64", {}),
        ("cp311-none-manylinux_2_17_x86_64", {}),
        ("py3-none-manylinux_2_17_x86_64", {}),
        ("cp311-cp311-manylinux_2_17_x86_64", {"cpu_architecture": "AMD64"}),
        ("cp311-cp311-manylinux_2_17_aarch64", {"cpu_architecture": "arm64"}),
        ("cp311-cp311-macosx_11_0_arm64", {**MAC, "cpu_architecture": "aarch64"}),
        ("cp311-cp311-macosx_10_9_universal2", {**MAC, "cpu_architecture": "aarch64"}),
        ("cp311-cp311-musllinux_1_2_x86_64", MUSL),
        ("cp311-cp311-win_amd64", {"os_system": "windows", "os_libc_family": None}),
        ("cp313-cp313t-manylinux_2_17_x86_64",
         {"python_version": "3.13.0", "python_free_threaded": True}),
    ],
)  # fmt: skip
def test_it_fits(tag: str, facts: dict[str, Any]) -> None:
    """These load where they lie."""
    assert wheel_problem((tag,), side(**facts)) is None


@pytest.mark.parametrize(
    ("tag", "facts", "kind", "needs", "has"),
    [
        ("cp310-cp310-manylinux_2_17_x86_64", {}, "interpreter", "cpython 3.10 (cp310)",
         "cpython 3.11"),
        ("cp312-abi3-manylinux_2_17_x86_64", {}, "interpreter", "cpython 3.12 (abi3)",
         "cpython 3.11"),
        ("py2-none-any", {}, "interpreter", "py2", "cpython 3.11"),
        ("pp310-pypy310_pp73-manylinux_2_17_x86_64", {}, "interpreter", "pypy (pp310)",
         "cpython 3.11"),
        ("cp313-cp313-manylinux_2_17_x86_64",
         {"python_version": "3.13.0", "python_free_threaded": True},
         "interpreter", "a build with the global interpreter lock", "a free-threaded build"),
        ("cp311-cp311-win_amd64", {}, "system", "windows (win_amd64)", "linux"),
        ("cp311-cp311-manylinux_2_17_x86_64", MAC, "system", "linux (manylinux_2_17_x86_64)",
         "darwin"),
        ("cp311-cp311-manylinux_2_17_aarch64", {}, "architecture", "aarch64", "x86_64"),
        ("cp311-cp311-musllinux_1_2_x86_64", {}, "libcFamily", "musl", "glibc"),
        ("cp311-cp311-manylinux_2_17_x86_64", MUSL, "libcFamily", "glibc", "musl"),
        ("cp311-cp311-manylinux_2_28_x86_64", {"os_libc_version": "2.27"}, "libcVersion",
         "glibc 2.28", "glibc 2.27"),
        ("cp311-cp311-manylinux2014_x86_64", {"os_libc_version": "2.12"}, "libcVersion",
         "glibc 2.17", "glibc 2.12"),
    ],
)  # fmt: skip
def test_it_does_not_fit(tag: str, facts: dict[str, Any], kind: str, needs: str, has: str) -> None:
    """The kind of the misfit and both sides of it are told."""
    problem = wheel_problem((tag,), side(**facts))

    assert problem is not None
    assert (problem.kind, problem.needs, problem.has) == (kind, needs, has)


@pytest.mark.parametrize(
    ("tag", "fact"),
    [
        ("cp310-cp310-manylinux_2_17_x86_64", "python_version"),
        ("cp311-cp311-win_amd64", "os_system"),
        ("cp311-cp311-manylinux_2_17_aarch64", "cpu_architecture"),
        ("cp311-cp311-musllinux_1_2_x86_64", "os_libc_family"),
        ("cp311-cp311-manylinux_2_99_x86_64", "os_libc_version"),
    ],
)
def test_what_is_not_known_is_no_misfit(tag: str, fact: str) -> None:
    """A misfit is certain or it is none."""
    assert wheel_problem((tag,), side()) is not None
    assert wheel_problem((tag,), side(None, **{fact: unknown("masked")})) is None


def test_one_tag_that_fits_is_enough() -> None:
    """A wheel with several tags fits where any of them fits."""
    tags = ("cp311-cp311-musllinux_1_2_x86_64", "cp311-cp311-manylinux_2_17_x86_64")

    assert wheel_problem(tags, side()) is None
    assert wheel_problem(tags, side(None, **MUSL)) is None
    assert wheel_problem((), side()) is None


def test_every_tag_of_packaging_fits() -> None:
    """What `packaging` lists as compatible with such a host is no misfit here."""
    platforms = ["manylinux_2_36_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"]
    tags = [
        *cpython_tags((3, 11), ["cp311"], platforms),
        *compatible_tags((3, 11), "cp311", platforms),
    ]
    misfits = [str(tag) for tag in tags if wheel_problem((str(tag),), side()) is not None]

    assert misfits == []
