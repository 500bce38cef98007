"""Which rule files are about training."""

from __future__ import annotations

import pytest

from envcheck.rulebook.sources import is_about_training


@pytest.mark.parametrize(
    ("name", "training"),
    [
        ("training/data.n3", True),
        ("fl4deep/training.n3", True),
        ("training", True),
        ("environment/packages.n3", False),
        ("trainings/data.n3", False),
        (".", False),
        ("", False),
    ],
)
def test_by_path(name: str, training: bool) -> None:
    """A folder or a file of that name, at any depth."""
    assert is_about_training(name) is training
