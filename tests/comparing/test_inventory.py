"""The packages of one side: roles, the model's path, variants."""

from __future__ import annotations

import pytest

from envcheck.facts import unknown
from tests.comparing.sides import inventory, package


def test_the_path_is_closed_over_requirements() -> None:
    """What a package on the path requires is on the path, markers judged for that side."""
    found = inventory(
        {
            "scikit-learn": package(requires=["joblib>=1.2.0", 'black; extra == "tests"']),
            "joblib": package(requires=["loky", 'colorama; sys_platform == "win32"']),
            "loky": package(),
            "colorama": package(),
            "black": package(requires=["click"]),
            "click": package(),
        }
    )

    assert found.on_path == {"scikit-learn", "joblib", "loky"}


@pytest.mark.parametrize(
    ("name", "role", "tool"),
    [
        ("scikit-learn", "pickle-reader", False),
        ("numpy", "numeric", False),
        ("numba", "numeric-helper", False),
        ("nvidia-cudnn-cu12", "accelerator-lib", False),
        ("pytest-randomly", "dev", True),
        ("pip", "packaging", True),
        ("never-heard-of-it", "transitive", False),
    ],
)
def test_roles(name: str, role: str, *, tool: bool) -> None:
    """A role comes from the table, from a prefix, or is transitive."""
    found = inventory({name: package()})

    assert found.role(name) == role
    assert found.is_tool(name) is tool


def test_a_tool_that_the_path_requires_is_none() -> None:
    """TensorFlow requires setuptools at run time."""
    found = inventory({"tensorflow": package(requires=["setuptools"]), "setuptools": package()})

    assert not found.is_tool("setuptools")


def test_variants_stand_in() -> None:
    """A package is not missing when another one provides its import."""
    found = inventory({"opencv-python-headless": package("4.10.0.84")})
    other = found.stand_in("opencv-python")

    assert other is not None
    assert other.name == "opencv-python-headless"
    assert found.stand_in("numpy") is None


def test_the_list_of_packages() -> None:
    """Complete, intended, and packages that could not be read."""
    found = inventory({"numpy": unknown("METADATA is not readable")})
    wanted = inventory(python_packages={"complete": False, "kind": "requirements"})
    bare = inventory(python_packages=None)

    assert found.complete
    assert found.unread == {"numpy": "METADATA is not readable"}
    assert wanted.intended
    assert not wanted.complete
    assert not bare.complete
    assert not bare.intended


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({"local": "cu121"}, "2.4.0+cu121"),
        ({}, "2.4.0"),
    ],
)
def test_a_label_that_stands_apart(fields: dict[str, str], version: str) -> None:
    """The full version has the local label wherever the file spells it."""
    assert (
        inventory({"torch": package("2.4.0", **fields)}).packages["torch"].full_version == version
    )
