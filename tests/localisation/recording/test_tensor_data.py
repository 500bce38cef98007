"""Tensors, ragged and sparse ones, frames and datasets are described as arrays are."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.localisation.recording.data import BatchData, describe_data

pytestmark = pytest.mark.slow
np = pytest.importorskip("numpy")
tf = pytest.importorskip("tensorflow")


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 4)).astype("float32"), np.arange(500) % 3


def test_tensors_are_as_arrays() -> None:
    """Also as variables, and in dicts; nothing is drawn from a generator of TensorFlow."""
    x, y = _data()
    whole = describe_data(x, y, None, (x[:50], y[:50]), "arrays")
    tf.random.set_seed(1)
    state = tf.random.get_global_generator().state.numpy().tolist()
    found = describe_data(
        tf.constant(x), tf.constant(y), None, (tf.constant(x[:50]), tf.constant(y[:50])), "arrays"
    )
    assert found == whole
    assert tf.random.get_global_generator().state.numpy().tolist() == state
    assert describe_data(tf.Variable(x), y, None, None, "arrays")["inputs"] == whole["inputs"]


def test_sparse_and_ragged_rows() -> None:
    """What is not written is 0; shorter rows are filled up with 0."""
    dense = np.zeros((40, 6), dtype="float32")
    dense[::2, 1] = 3.0
    sparse = describe_data(tf.sparse.from_dense(dense), None, None, None, "arrays")["inputs"][0]
    plain = describe_data(dense, None, None, None, "arrays")["inputs"][0]
    assert (sparse["mean"], sparse["max"]) == (plain["mean"], 3.0)
    ragged = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
    found = describe_data(ragged, None, None, None, "arrays")["inputs"][0]
    assert (found["min"], found["max"], found["shape"]) == (0.0, 6.0, [None])


def test_texts_in_tensors() -> None:
    """They have a shape and no numbers."""
    found = describe_data(tf.constant(["a", "b"]), tf.constant(["x", "y"]), None, None, "arrays")
    assert (found["inputs"][0]["looks"], found["targets"][0]["kind"]) == ("unknown", "unknown")


def test_half_precision() -> None:
    """Numbers of 16 bits are described in the precision they have."""
    x, y = _data()
    for kind in ("float16", "bfloat16"):
        found = describe_data(tf.cast(tf.constant(x), kind), y, None, None, "arrays")["inputs"][0]
        assert found["mean"] == pytest.approx(float(x.mean()), abs=1e-2)
        assert found["dtype"] == kind


def test_batches_of_a_dataset() -> None:
    """The batches of a dataset of dicts are put together by their keys."""
    x, y = _data()
    stream = BatchData()
    for batch in tf.data.Dataset.from_tensor_slices(({"a": x, "b": x * 2}, y)).batch(64):
        stream.add(*batch)
    found = stream.describe()
    assert [item["name"] for item in found["inputs"]] == ["a", "b"]
    assert found["rows_examined"] == 500
    assert found["targets"][0]["class_counts"] == [167, 167, 166]
    assert found["inputs"][1]["std"] == pytest.approx(float((x * 2).std()), rel=1e-5)
