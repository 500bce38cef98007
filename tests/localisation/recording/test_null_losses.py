"""The loss of the best constant prediction, found by trying constants."""

from __future__ import annotations

import math
from typing import Any

import pytest

from envcheck.localisation.recording.data import describe_data, null_losses

np = pytest.importorskip("numpy")
_REDUCTION = "sum_over_batch_size"


def null(y: Any, name: str, **more: Any) -> dict[str, Any]:
    """Return the null loss of a target under a loss."""
    data = describe_data(np.zeros((len(y), 1)), y, None, None, "arrays")
    loss = {"output": None, "name": name, "custom": False, "reduction": _REDUCTION, **more}
    return null_losses(data, [loss])[0]


def _best(loss: Any, candidates: Any) -> float:
    return float(min(loss(candidate) for candidate in candidates))


def test_the_variance() -> None:
    """No constant has a lower mean squared error than the mean."""
    y = np.array([0.5, 1.0, 4.0, 8.5])
    tried = _best(lambda c: ((y - c) ** 2).mean(), np.linspace(0, 9, 9001))
    found = null(y, "mean_squared_error")
    assert found["kind"] == "variance"
    assert found["value"] == pytest.approx(tried, rel=1e-6)


def test_the_median_deviation() -> None:
    """No constant has a lower mean absolute error than the median."""
    y = np.array([0.5, 1.0, 4.0, 8.5, 8.75])
    tried = _best(lambda c: np.abs(y - c).mean(), np.linspace(0, 9, 9001))
    found = null(y, "mean_absolute_error")
    assert found["kind"] == "median-deviation"
    assert found["value"] == pytest.approx(tried, rel=1e-3)


def test_the_label_entropy() -> None:
    """The same for class numbers and one-hot codes: -sum p ln p of 1/2, 1/4, 1/4 is 1.5 ln 2."""
    y = np.array([0, 0, 1, 2] * 5)
    for target, name in (
        (y, "sparse_categorical_crossentropy"),
        (np.eye(3)[y], "categorical_crossentropy"),
    ):
        found = null(target, name)
        assert found["kind"] == "label-entropy"
        assert found["value"] == pytest.approx(1.5 * math.log(2))
        assert null(target, "crossentropy")["value"] == pytest.approx(1.5 * math.log(2))


def test_smoothed_labels() -> None:
    """Smoothing by 0.3 over two classes: 1 becomes 0.85, and so the mean is 0.5 ± 0.35 · 0.5."""
    y = np.eye(2)[[0, 0, 0, 1]]
    p = 0.75 * 0.85 + 0.25 * 0.15
    found = null(y, "categorical_crossentropy", label_smoothing=0.3)
    assert found["value"] == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))


def test_the_prior_entropy() -> None:
    """A quarter of ones; several labels give the mean over them, one that never occurs 0."""
    quarter = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    y = np.array([1, 0, 0, 0] * 4)
    assert null(y, "binary_crossentropy")["value"] == pytest.approx(quarter)
    tags = np.column_stack([y, np.zeros(16), [1, 0] * 8])
    found = null(tags, "binary_crossentropy")
    assert found["kind"] == "prior-entropy"
    assert found["value"] == pytest.approx((quarter + 0 + math.log(2)) / 3)
    p = 0.25 * 0.8 + 0.1
    smoothed = null(y, "binary_crossentropy", label_smoothing=0.2)["value"]
    assert smoothed == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))


def test_the_floor_of_an_autoencoder() -> None:
    """Binary cross-entropy of grey pixels stays above their own entropy."""
    pixels = np.random.default_rng(0).random((400, 5))
    found = null(pixels, "binary_crossentropy")
    own = -(pixels * np.log(pixels) + (1 - pixels) * np.log(1 - pixels)).mean()
    assert found["floor"] == pytest.approx(own)
    assert found["value"] == pytest.approx(math.log(2), abs=0.01)


@pytest.mark.parametrize(
    ("y", "name", "more"),
    [
        ([0.0, 1.5, -2.0], "sparse_categorical_crossentropy", {}),
        ([0.0, 1.5, -2.0], "binary_crossentropy", {}),
        ([0, 1, 2, 0, 1, 2], "categorical_crossentropy", {}),
        ([0, 1, 0, 1], "custom:focal", {"custom": True}),
        ([0, 1, 0, 1], "binary_crossentropy", {"reduction": "sum"}),
        ([0.5, 1.5], "huber", {}),
        (["a", "b"], "mean_squared_error", {}),
    ],
)
def test_what_is_not_known_is_missing(y: Any, name: str, more: dict[str, Any]) -> None:
    """Targets that a loss does not fit, sums and losses of the program's own have no null loss."""
    assert null(np.array(y), name, **more)["value"] is None


def test_outputs_find_their_targets_by_name_or_number() -> None:
    """The names of a dict win; a list goes by its order."""
    kind, size = np.array([0, 1, 2, 0]), np.array([1.5, 2.5, 3.5, 4.5])
    losses = [
        {"output": "size", "name": "mean_squared_error", "custom": False, "reduction": _REDUCTION},
        {"output": "kind", "name": "sparse_categorical_crossentropy", "custom": False,
         "reduction": _REDUCTION},
    ]  # fmt: skip
    x = np.zeros((4, 1))
    named = describe_data(x, {"kind": kind, "size": size}, None, None, "arrays")
    listed = describe_data(x, [size, kind], None, None, "arrays")
    for data in (named, listed):
        first, second = null_losses(data, losses)
        assert first["value"] == pytest.approx(1.25)
        assert second["value"] == pytest.approx(1.5 * math.log(2))
    weighted = describe_data(x, [size, kind], np.ones(4), None, "arrays")
    assert null_losses(weighted, losses)[0]["value"] is None
    one = describe_data(x, size, None, None, "arrays")
    assert null_losses(one, losses)[1]["value"] is None
