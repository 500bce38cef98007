"""What arrays hold, against values worked out by hand."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import pytest

from envcheck.localisation.recording.data import describe_data

np = pytest.importorskip("numpy")


def described(x: Any, y: Any = None, validation: Any = None) -> dict[str, Any]:
    """Return the description of arrays, which must not change them or touch a generator."""
    before = np.random.get_state()[1].tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = describe_data(x, y, None, validation, "arrays")
    assert np.random.get_state()[1].tobytes() == before
    return found


def test_the_values_of_a_small_table() -> None:
    """Columns 1..4 and 10..40 with one NaN; by hand: deviations sqrt(1.25) and 10 sqrt(1.25)."""
    x = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
    found = described(x)["inputs"][0]
    assert (found["min"], found["max"], found["mean"]) == (1.0, 40.0, 13.75)
    assert found["feature_std_min"] == pytest.approx(math.sqrt(1.25))
    assert found["feature_std_max"] == pytest.approx(10 * math.sqrt(1.25))
    assert found["feature_std_ratio"] == pytest.approx(10.0)
    assert found["max_abs_over_10_share"] == 3 / 8
    assert (found["features"], found["constant_features"], found["distinct"]) == (2, 0, 8)
    assert (found["shape"], found["dtype"], found["integer"]) == ([2], "float64", True)
    assert (found["nan_share"], found["looks"]) == (0.0, "tabular")


def test_a_constant_column_and_a_nan() -> None:
    """The NaN is left out of range and spread; 0.1 in float32 has no spread of its own."""
    x = np.full((1000, 3), 0.1, dtype="float32")
    x[:, 1] = np.arange(1000)
    x[:, 2] = np.arange(1000) % 2
    x[7, 1] = np.nan
    found = described(x)["inputs"][0]
    assert found["constant_features"] == 1
    assert (found["min"], found["max"]) == (0.0, 999.0)
    assert found["nan_share"] == pytest.approx(1 / 3000)
    kept = np.delete(np.arange(1000), 7)
    assert found["feature_std_ratio"] == pytest.approx(kept.std() / 0.5, rel=1e-5)


def test_one_nan_and_one_infinity_are_seen_in_a_large_array() -> None:
    """They lie in rows that the sample leaves out, yet all of the array is passed over."""
    x = np.zeros((60_000, 28, 28, 1), dtype="float32")
    x[:, 0, 0, 0] = 0.5
    x[59_998, 3, 3, 0] = np.nan
    x[12_345, 3, 3, 0] = -np.inf
    found = described(x)["inputs"][0]
    assert found["nan_share"] == pytest.approx(1 / x.size)
    assert found["inf_share"] == pytest.approx(1 / x.size)
    assert (found["min"], found["max"]) == (0.0, 0.5)


def test_only_nan() -> None:
    """What is not known is None and never 0."""
    found = described(np.full((5, 2), np.nan), np.full(5, np.nan))
    first, target = found["inputs"][0], found["targets"][0]
    assert (first["min"], first["mean"], first["nan_share"]) == (None, None, 1.0)
    assert (target["kind"], target["mean"], target["nan_share"]) == ("unknown", None, 1.0)


def test_names_come_from_dicts_and_lists() -> None:
    """A dict gives its keys in order, a list its numbers, an array alone no name."""
    one = np.ones((4, 2))
    found = described({"b": one, "a": one * 2}, [np.arange(4), np.ones((4, 1))])
    assert [item["name"] for item in found["inputs"]] == ["a", "b"]
    assert [item["name"] for item in found["targets"]] == ["0", "1"]
    assert described(one)["inputs"][0]["name"] is None
    assert len(described([[1.0, 2.0], [3.0, 4.0]], [0, 1])["inputs"]) == 1


def test_duplicates_and_conflicts() -> None:
    """Of 8 rows 3 equal an earlier one, and of those one has another target."""
    x = np.array([[0, 0], [1, 0], [0, 0], [2, 2], [1, 0], [3, 3], [-0.0, 0], [4, 4]], dtype=float)
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    found = described(x, y)
    assert found["duplicate_share"] == 3 / 8
    assert found["conflict_share"] == 1 / 8


def test_rows_that_differ_where_nobody_looks_first() -> None:
    """Rows of 5,000 values that differ in one of them are no duplicates."""
    x = np.zeros((100, 5000), dtype="float32")
    x[np.arange(100), 17 + np.arange(100) * 3] = 1
    assert described(x)["duplicate_share"] == 0.0
    x[50:] = x[:50]
    assert described(x)["duplicate_share"] == 0.5


def test_overlap_and_shift_of_validation_data() -> None:
    """5 of 20 validation rows are training rows; the means differ by 2 deviations."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.tile([-1.0, 1.0], 500), rng.permutation(1000) / 1000])
    other = np.column_stack([np.tile([1.0, 3.0], 10), 5 + rng.random(20)])
    other[:5] = x[:5]
    found = described(x, np.arange(1000) % 2, (other, np.arange(20) % 2))["validation"]
    assert (found["rows"], found["overlap_share"]) == (20, 0.25)
    spread = x.std(axis=0)
    expected = np.abs(x.mean(axis=0) - other.mean(axis=0)) / spread
    assert found["mean_shift"] == pytest.approx(expected.max())
    assert found["targets"][0]["kind"] == "binary"
    assert described(x)["validation"] is None


def test_validation_data_that_is_a_stream() -> None:
    """Nothing is drawn from it, and nothing is known of it."""
    found = described(np.ones((4, 2)), np.arange(4), (iter([1]), None))["validation"]
    assert (found["rows"], found["inputs"], found["overlap_share"]) == (None, [], None)


def test_an_autoencoder() -> None:
    """The target is the input, as the same array or as an equal one; a column of it is not."""
    x = np.random.default_rng(0).random((50, 6)).astype("float32")
    for y in (x, x.copy(), x.reshape(50, 2, 3)):
        assert described(x, y)["targets"][0]["equals_input"] is True
    assert described(x, x[:, :1])["targets"][0]["equals_input"] is False
    assert described(x, x + 0.1)["targets"][0]["equals_input"] is False


@pytest.mark.parametrize(
    "x",
    [
        np.array(["a", "b", "a"]), np.array([["a"], [None]], dtype=object), np.zeros((0, 3)),
        np.array([b"x", b"y"]), np.array([True, False]), np.array([1 + 2j, 3.0]),
        np.array(["2020-01-01"], dtype="datetime64[D]"), np.float64(3.0), 7, None, "text", [],
        [[1, 2], [3]], {}, {"a": None}, np.zeros((3, 0)), np.array([2**63], dtype="uint64"),
        np.array([np.finfo("float64").max, -np.finfo("float64").max]), iter([1, 2]), object(),
        np.zeros((2, 1, 1, 1, 1, 1)), np.zeros(5)[::-1], np.asfortranarray(np.ones((4, 3))),
    ],
)  # fmt: skip
def test_odd_arrays_do_no_harm(x: Any) -> None:
    """Text, objects, streams and empty arrays are described as far as they can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = describe_data(x, x, None, (x, x), "arrays")
    assert found["kind"] == "arrays"
    for described_one in [*found["inputs"], *found["targets"]]:
        assert isinstance(described_one["shape"], list)


def test_arrays_are_left_alone() -> None:
    """Arrays that cannot be written to are enough, and nothing is written."""
    x = np.random.default_rng(0).normal(size=(300, 4))
    y = np.arange(300) % 3
    kept = x.copy(), y.copy()
    x.flags.writeable = y.flags.writeable = False
    described(x, y, (x, y))
    assert np.array_equal(x, kept[0])
    assert np.array_equal(y, kept[1])


def test_rows_are_sampled_evenly_whatever_their_period() -> None:
    """200,000 rows, of which every tenth is of one class: each class keeps its tenth."""
    y = np.arange(2_000_000) % 10
    found = described(np.zeros((2_000_000, 1), dtype="float32"), y)["targets"][0]
    shares = np.array(found["class_counts"]) / sum(found["class_counts"])
    assert np.abs(shares - 0.1).max() < 0.002
    assert found["perplexity_share"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.bench
def test_the_time_for_sixty_thousand_images() -> None:
    """At most a tenth of a second of the processor, the best of five."""
    x = np.random.default_rng(0).random((60_000, 28, 28, 1)).astype("float32")
    y = np.arange(60_000) % 10
    taken = []
    for _ in range(5):
        begun = time.process_time()
        described(x, y)
        taken.append(time.process_time() - begun)
    assert min(taken) <= 0.1
