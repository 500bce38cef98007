"""Batches of a stream are described as one array would be."""

from __future__ import annotations

import pytest

from envcheck.localisation.recording.data import BatchData, describe_data

np = pytest.importorskip("numpy")


def test_batches_are_as_one_array() -> None:
    """All but the number of rows, which is not known of a stream."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 4)).astype("float32"), np.arange(90) % 3
    stream = BatchData()
    for start in range(0, 90, 32):
        stream.add(x[start : start + 32], y[start : start + 32])
    found, whole = stream.describe(), describe_data(x, y, None, None, "batches")
    assert (found["rows"], found["rows_examined"]) == (None, 90)
    assert (whole["rows"], whole["rows_examined"]) == (90, 90)
    assert found["inputs"] == whole["inputs"]
    assert found["targets"] == whole["targets"]


def test_batches_are_kept_as_copies() -> None:
    """A generator may hand out the same array again and again."""
    buffer = np.zeros((4, 2))
    stream = BatchData()
    for number in range(3):
        buffer[:] = number
        stream.add(buffer, None)
    assert stream.describe()["inputs"][0]["max"] == 2.0
    assert stream.describe()["inputs"][0]["min"] == 0.0
    assert stream.describe()["targets"] == []


def test_texts_of_different_length() -> None:
    """The length is open, and the first length stands for all."""
    stream = BatchData()
    for length in (5, 7, 5):
        stream.add({"text": np.ones((8, length), dtype=int)}, np.ones(8))
    found = stream.describe()
    assert found["inputs"][0]["shape"] == [None]
    assert found["rows_examined"] == 16


def test_memory_is_bounded() -> None:
    """Of large rows only so many are kept as two million values hold."""
    stream = BatchData()
    for _ in range(40):
        stream.add(np.zeros((16, 64, 64, 3), dtype="uint8"), np.arange(16))
    found = stream.describe()
    assert found["rows_examined"] <= 2_000_000 // (64 * 64 * 3)


def test_no_batches_at_all() -> None:
    """A stream that ends before it begins is described as nothing."""
    found = BatchData().describe()
    assert (found["inputs"], found["targets"], found["rows"]) == ([], [], None)
