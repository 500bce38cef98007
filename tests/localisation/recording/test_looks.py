"""What kind of data an array looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from envcheck.localisation.recording.looks import looks_like

np = pytest.importorskip("numpy")


def _rng() -> Any:
    return np.random.default_rng(1)


def _smooth(side: int) -> Any:
    """Return grey images of blobs: each pixel is like its neighbours."""
    places = np.arange(side)
    centres = _rng().integers(2, side - 2, size=(200, 2))
    down = np.exp(-((places[None, :] - centres[:, :1]) ** 2) / 6)
    across = np.exp(-((places[None, :] - centres[:, 1:]) ** 2) / 6)
    return np.round(255 * down[:, :, None] * across[:, None, :])


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "colour images": (lambda: _rng().random((20, 32, 32, 3)), "image"),
    "channels first": (lambda: _rng().random((20, 3, 32, 32)), "image"),
    "grey images": (lambda: _smooth(28), "image"),
    "flat grey images": (lambda: _smooth(28).reshape(200, 784), "image"),
    "flat small images": (lambda: _smooth(8).reshape(200, 64), "image"),
    "hundred tokens a text": (lambda: _rng().integers(0, 200, (300, 100)), "tokens"),
    "tokens, padded": (
        lambda: _rng().integers(1, 5000, (300, 40)) * (np.arange(40) < 30), "tokens",
    ),
    "ages and amounts": (
        lambda: np.column_stack(
            [_rng().integers(0, top, 300) for top in (2, 90, 12, 40, 100_000)]
        ),
        "tabular",
    ),
    "one column of whole numbers": (lambda: _rng().integers(0, 90, (300, 1)), "tabular"),
    "measurements": (lambda: _rng().normal(size=(300, 8)), "tabular"),
    "sixty-four measurements": (lambda: _rng().random((300, 64)) * 200, "tabular"),
    "numbers without an axis": (lambda: _rng().normal(size=300), "tabular"),
    "one-hot": (lambda: np.eye(5)[_rng().integers(0, 5, 300)], "one-hot"),
    "one-hot letters": (lambda: np.eye(26)[_rng().integers(0, 26, (50, 12))], "one-hot"),
    "bag of words": (lambda: _rng().integers(0, 2, (300, 50)), "tabular"),
    "series": (lambda: _rng().normal(size=(100, 24, 3)), "sequence"),
    "one series of 64 steps": (lambda: _rng().normal(size=(100, 64, 1)), "sequence"),
    "volumes": (lambda: _rng().random((4, 16, 16, 16, 1)), "image"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_looks(name: str) -> None:
    """Each kind of data is recognised, and what is only similar is not."""
    make, expected = CASES[name]
    assert looks_like(make().astype("float32")) == expected
