# ruff: noqa: E402 - the skip comes before what needs numpy
"""Errors, layouts, stores, samples and traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

np: Any = pytest.importorskip("numpy", reason="needs the onnx extra")

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.inputs import Spec, given, read_inputs
from envcheck.conversion.layouts import conventional, layout_between
from envcheck.conversion.sketches import sketch
from envcheck.conversion.stores import Store
from envcheck.conversion.traces import TraceWriter, is_trace, read_trace
from envcheck.errors import InputError, SchemaError

if TYPE_CHECKING:
    from pathlib import Path

GENERATOR = np.random.default_rng(5)
IMAGE = GENERATOR.standard_normal((2, 5, 4, 3)).astype("float32")


def test_relative_error_of_holes() -> None:
    """Not-a-number must stand at the same places; the rest is compared as usual."""
    a, b = np.array([1.0, np.nan, 2.0]), np.array([1.0, np.nan, 2.0])

    assert relative_error(a, b) == 0
    assert relative_error(np.array([1.0, 2.0, np.nan]), b) == float("inf")
    assert relative_error(np.array([np.inf]), np.array([-np.inf])) == float("inf")


def test_relative_error_of_integers() -> None:
    """For integers it is the share of elements that differ."""
    assert relative_error(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5])) == 0.25


def test_layouts_restore_what_they_apply() -> None:
    """Restoring undoes applying, for every conventional layout."""
    for layout in conventional(4):
        turned = layout.apply(IMAGE, [IMAGE.shape[axis] for axis in layout.axes or range(4)])
        assert np.array_equal(layout.restore(turned, IMAGE.shape), IMAGE)


def test_layout_by_shape() -> None:
    """The layout follows from the shapes, and from knowledge where they allow two."""
    found = layout_between((2, 5, 4, 3), (2, 3, 5, 4))
    square = layout_between((2, 3, 3, 3), (2, 3, 3, 3), channels_first=True)

    assert found is not None
    assert found.kind == "channels-first"
    assert square is not None
    assert square.kind == "channels-first"
    assert layout_between((2, 5), (5, 2, 7)) is None


def test_sketches_ignore_the_order() -> None:
    """A sketch is the same for the same values in another order."""
    a, b = sketch(IMAGE), sketch(IMAGE.transpose(0, 3, 1, 2))

    assert a.rms == pytest.approx(b.rms)
    assert a.mean_abs == pytest.approx(b.mean_abs)


def test_a_store_spills(tmp_path: Path) -> None:
    """What exceeds the budget goes to files and reads back the same."""
    store = Store(budget=IMAGE.nbytes)
    store.put("a", IMAGE)
    store.put("b", IMAGE + 1)

    assert np.array_equal(store.get("a"), IMAGE)
    assert np.array_equal(store.get("b"), IMAGE + 1)
    assert isinstance(store.get("b"), np.memmap)
    store.close()
    assert "a" not in store


def test_a_store_keeps_values_apart() -> None:
    """A value put again takes no other one's file, and a view does not keep its whole alive."""
    store = Store(budget=4 * IMAGE.itemsize)
    for name, value in (("a", IMAGE), ("b", IMAGE + 1), ("a", IMAGE + 2), ("c", IMAGE + 3)):
        store.put(name, value)
    store.put("small", IMAGE.reshape(-1)[:4])

    for name, step in (("a", 2), ("b", 1), ("c", 3)):
        assert np.array_equal(store.get(name), IMAGE + step)
    assert np.array_equal(store.get("small"), IMAGE.reshape(-1)[:4])
    assert store.get("small").base is None
    store.close()


SPECS = (Spec(name="x", shape=(None, 4), dtype="float32"),)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"y": np.zeros((2, 4))}, "lacks x"),
        ({"x": np.zeros((2, 5))}, "has shape (2, 5)"),
        ({"x": np.full((2, 4), np.nan)}, "holds NaN"),
        ({"x": np.array([["a"] * 4])}, "has dtype"),
        ({"x": np.zeros((0, 4))}, "holds no samples"),
        ([np.zeros((2, 4)), np.zeros((2, 4))], "has shape"),
    ],
)
def test_bad_samples(values: Any, words: str) -> None:
    """Wrong names, shapes, types and not-a-number are refused, with what the model takes."""
    with pytest.raises(InputError) as caught:
        given(values, SPECS, "single", "samples.npz")

    assert words in str(caught.value)
    assert "samples.npz" in str(caught.value)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    """A file with pickled objects is refused."""
    path = tmp_path / "x.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)

    with pytest.raises(InputError):
        read_inputs(str(path))


def test_damaged_inputs_are_refused(tmp_path: Path) -> None:
    """Cut off, or with any byte changed, a file of inputs is refused or read, and no more."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=IMAGE)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        for data in (bytes(damaged), whole[:place]):
            path.write_bytes(data)
            try:
                read_inputs(str(path))
            except InputError:
                refused += 1

    assert refused > len(whole) // 7


def test_a_trace_reads_back(tmp_path: Path) -> None:
    """Arrays and what is known about them come back; nothing is left half-written."""
    path = str(tmp_path / "a.trace")
    writer = TraceWriter(path, {"model": "m"})
    writer.add(IMAGE, kind="tensor", name="a", op="Conv")
    writer.close()
    trace = read_trace(path)

    assert is_trace(path)
    assert trace.entries[0]["name"] == "a"
    assert np.array_equal(trace.array(trace.entries[0]["key"]), IMAGE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.trace"]


def test_a_trace_of_another_schema_is_refused(tmp_path: Path) -> None:
    """A newer schema is named, and what is no trace is called so."""
    import zipfile

    path = str(tmp_path / "a.trace")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("index.json", '{"schema": "envcheck.trace/9", "entries": []}')
    with pytest.raises(SchemaError):
        read_trace(path)
    (tmp_path / "b.trace").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(InputError):
        read_trace(str(tmp_path / "b.trace"))
