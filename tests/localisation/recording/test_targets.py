"""What targets are, and their numbers against values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from envcheck.localisation.recording.data import describe_data

np = pytest.importorskip("numpy")


def _rng() -> Any:
    return np.random.default_rng(3)


def target(y: Any) -> dict[str, Any]:
    """Return the description of one target."""
    found = describe_data(np.zeros((len(y), 1)), y, None, None, "arrays")["targets"]
    assert len(found) == 1
    return dict(found[0])


def _long_tail() -> Any:
    counts = [400, 30, 210, 90, 15, 160, 55, 12]
    return np.repeat(np.arange(8), counts)


KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "zeros and ones": (lambda: _rng().integers(0, 2, 100), "binary"),
    "booleans": (lambda: _rng().integers(0, 2, 100).astype(bool), "binary"),
    "a column of 0.0 and 1.0": (lambda: _rng().integers(0, 2, (100, 1)).astype(float), "binary"),
    "minus one and one": (lambda: _rng().integers(0, 2, 100) * 2 - 1, "binary"),
    "ten classes": (lambda: _rng().integers(0, 10, 500), "class-ids"),
    "ten classes in float": (
        lambda: _rng().integers(0, 10, (500, 1)).astype("float32"),
        "class-ids",
    ),
    "classes from 1": (lambda: _rng().integers(1, 4, 500), "class-ids"),
    "uneven classes": (_long_tail, "class-ids"),
    "a hundred classes": (lambda: _rng().integers(0, 100, 5000), "class-ids"),
    "equal classes": (lambda: np.repeat(np.arange(12), 50), "class-ids"),
    "counts": (lambda: _rng().poisson(6.0, 2000), "counts"),
    "ages": (lambda: np.clip(_rng().normal(40, 15, 5000), 0, 99).astype(int), "counts"),
    "grades from 3": (lambda: _rng().integers(3, 9, 500), "counts"),
    "house prices": (lambda: _rng().integers(50_000, 500_000, 500), "counts"),
    "real": (lambda: _rng().normal(size=200), "real"),
    "negative whole numbers": (lambda: _rng().integers(-5, 6, 200), "real"),
    "several real": (lambda: _rng().normal(size=(200, 3)), "real"),
    "shares of one": (lambda: _rng().random(200), "real"),
    "one-hot": (lambda: np.eye(4)[_rng().integers(0, 4, 200)], "one-hot"),
    "one-hot at each place": (lambda: np.eye(4)[_rng().integers(0, 4, (50, 6))], "one-hot"),
    "soft labels": (lambda: _rng().dirichlet(np.ones(4), 200), "probabilities"),
    "tags": (lambda: _rng().integers(0, 2, (200, 5)), "multi-label"),
    "tokens": (lambda: _rng().integers(0, 900, (200, 12)), "class-ids"),
    "masks": (lambda: _rng().integers(0, 2, (20, 8, 8, 1)), "binary"),
    "segments": (lambda: _rng().integers(0, 4, (20, 8, 8, 1)), "class-ids"),
    "text": (lambda: np.array(["a", "b"] * 50), "unknown"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name: str) -> None:
    """Class numbers, counts, codes, labels and real numbers are told apart."""
    make, expected = KINDS[name]
    assert target(make())["kind"] == expected


def test_the_numbers_of_a_real_target() -> None:
    """1, 2, 3, 10: mean 4, variance 12.5, median 2.5, and 2.5 away from it on average."""
    found = target(np.array([1.5, 2.0, 3.0, 9.5]))
    assert (found["mean"], found["median"]) == (4.0, 2.5)
    assert found["variance"] == pytest.approx((2.5**2 + 2**2 + 1 + 5.5**2) / 4)
    assert found["std"] == pytest.approx(math.sqrt(found["variance"]))
    assert found["median_deviation"] == (1 + 0.5 + 0.5 + 7) / 4
    assert found["classes"] is found["class_counts"] is found["max_id"] is None


def test_variance_and_median_are_those_of_each_column() -> None:
    """Two constant columns have no spread, however far they are apart."""
    found = target(np.array([[0.5, 100.5], [0.5, 100.5], [0.5, 100.5]]))
    assert found["variance"] == 0.0
    assert found["median_deviation"] == 0.0
    assert found["column_means"] == [0.5, 100.5]


def test_the_numbers_of_classes() -> None:
    """Counts 6, 3, 0, 1: entropy by hand, over three classes that occur."""
    found = target(np.array([0] * 6 + [1] * 3 + [3]))
    assert found["class_counts"] == [6, 3, 0, 1]
    assert (found["classes"], found["max_id"], found["width"]) == (3, 3, 1)
    entropy = -sum(p * math.log(p) for p in (0.6, 0.3, 0.1))
    assert found["perplexity_share"] == pytest.approx(math.exp(entropy) / 3)


def test_the_numbers_of_one_hot_codes() -> None:
    """The counts are those of the columns; balanced classes have perplexity 1."""
    found = target(np.eye(3)[[0, 1, 2, 2, 1, 0]])
    assert found["class_counts"] == [2, 2, 2]
    assert found["perplexity_share"] == pytest.approx(1.0)
    assert (found["width"], found["row_sums_one"], found["own_entropy"]) == (3, True, 0.0)


def test_the_highest_class_of_many_rows() -> None:
    """One row of class 17 among 400,000 is not in the sample but is the highest number."""
    y = np.arange(400_000) % 10
    y[399_999] = 17
    assert target(y)["max_id"] == 17


def test_soft_labels_have_an_entropy_of_their_own() -> None:
    """Half of it is what no prediction can go below: ln 2 / 2."""
    found = target(np.array([[0.5, 0.5], [1.0, 0.0]]))
    assert found["own_entropy"] == pytest.approx(math.log(2) / 2)
    assert found["kind"] == "probabilities"
