"""Labels against losses: each misfit by an example, and each benign twin beside it."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.localisation.facts.targets import canonical, misfits


def ids(low: int, high: int, **more: Any) -> dict[str, Any]:
    """Return class numbers as the log describes them."""
    return {"kind": "class-ids", "dtype": "int64", "shape": [], "width": 1,
            "min": float(low), "max": float(high), **more}  # fmt: skip


def one_hot(width: int) -> dict[str, Any]:
    """Return one-hot rows as the log describes them."""
    return {"kind": "one-hot", "dtype": "float32", "shape": [width], "width": width,
            "min": 0.0, "max": 1.0}  # fmt: skip


def real(low: float, high: float, width: int = 1) -> dict[str, Any]:
    """Return quantities as the log describes them."""
    shape = [] if width == 1 else [width]
    return {"kind": "real", "dtype": "float64", "shape": shape, "width": width,
            "min": low, "max": high}  # fmt: skip


SPARSE, CATEGORICAL = "sparse_categorical_crossentropy", "categorical_crossentropy"
BINARY, SQUARED = "binary_crossentropy", "mean_squared_error"


@pytest.mark.parametrize(
    ("loss", "target", "units", "activation", "expected"),
    [
        (SPARSE, ids(0, 9), 10, "softmax", set()),
        (SPARSE, ids(0, 9), 12, "softmax", set()),
        (SPARSE, ids(0, 9), 9, "softmax", {"too-few-units"}),
        (SPARSE, ids(1, 10), 10, "softmax", {"ids-from-one"}),
        (SPARSE, ids(1, 10), 11, "softmax", set()),
        (SPARSE, ids(-1, 9), 10, "softmax", {"negative-ids"}),
        (SPARSE, one_hot(10), 10, "softmax", {"one-hot-as-ids"}),
        (SPARSE, real(-2.5, 3.5), 10, "softmax", {"real-as-classes"}),
        (CATEGORICAL, one_hot(10), 10, "softmax", set()),
        (CATEGORICAL, one_hot(10), 8, "softmax", {"other-width"}),
        (CATEGORICAL, ids(0, 9), 10, "softmax", {"ids-as-one-hot"}),
        (CATEGORICAL, {**one_hot(5), "kind": "probabilities"}, 5, "softmax", set()),
        (CATEGORICAL, {**one_hot(5), "kind": "multi-label"}, 5, "softmax", {"several-labels"}),
        (BINARY, {**one_hot(5), "kind": "multi-label"}, 5, "sigmoid", set()),
        (BINARY, ids(0, 1, kind="binary"), 1, "sigmoid", set()),
        (BINARY, ids(-1, 1, kind="binary"), 1, "sigmoid", {"signs-as-shares"}),
        (BINARY, ids(0, 9), 1, "sigmoid", {"ids-as-shares"}),
        (BINARY, real(0.0, 1.0, 64), 64, "sigmoid", set()),
        (BINARY, real(-3.0, 3.0), 1, "sigmoid", {"real-as-shares"}),
        ("hinge", ids(-1, 1, kind="binary"), 1, "linear", set()),
        (SQUARED, real(-3.0, 3.0), 1, "linear", set()),
        (SQUARED, real(-3.0, 3.0), 1, "relu", {"out-of-reach"}),
        (SQUARED, real(-0.1, 3.0), 1, "relu", set()),
        (SQUARED, real(0.0, 50.0), 1, "sigmoid", {"out-of-reach"}),
        (SQUARED, real(-1.0, 1.0), 1, "tanh", set()),
        (SQUARED, real(0.0, 1.0, 3), 1, "linear", {"other-width"}),
        ("custom:mine", real(0.0, 1.0, 3), 1, "linear", set()),
    ],
)
def test_misfits(
    loss: str, target: dict[str, Any], units: int, activation: str, expected: set[str]
) -> None:
    """Each form of label under each family of losses."""
    assert misfits(loss, target, units, 1, activation) == expected


@pytest.mark.parametrize(
    ("shape", "rank", "expected"),
    [([], 1, set()), ([], 3, {"needs-flattening"}), ([16, 16], 3, set()),
     ([1], 2, {"needs-flattening"})],
)  # fmt: skip
def test_rank(shape: list[int], rank: int, expected: set[str]) -> None:
    """One label for each row does not go with an output for each pixel."""
    assert misfits(SPARSE, ids(0, 3, shape=shape), 4, rank, "softmax") == expected


def test_short_names() -> None:
    """A loss has one name."""
    assert [canonical(name) for name in ("mse", "MAE", "kld", SPARSE)] == [
        "mean_squared_error", "mean_absolute_error", "kl_divergence", SPARSE,
    ]  # fmt: skip
