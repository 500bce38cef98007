"""Golden files are bounded, never run anything, and say what is wrong with them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from envcheck.errors import InputError

np = pytest.importorskip("numpy")


def golden(path: Path, **changes: Any) -> Path:
    """Write a golden file of one input and one output; bytes in `changes` replace a member."""
    from envcheck.goldens.document import Golden, Output, write_golden

    value = np.arange(6, dtype="float32").reshape(2, 3)
    write_golden(str(path), Golden({"x": value}, (Output("y", value, {"repeated": 0.0}),)))
    if changes:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members.update(changes)
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                if data is not None:
                    archive.writestr(name, data)
    return path


def index(**changes: Any) -> bytes:
    """Return an index with some of its members changed."""
    item = {"name": "x", "shape": [2, 3], "dtype": "float32", "array": "input.0"}
    output = {**item, "name": "y", "array": "output.1", "noise": {"repeated": 0.0}}
    whole = {"schema": "envcheck.golden/1", "raw": [], "inputs": [item], "outputs": [output]}
    return json.dumps({**whole, **changes}).encode()


def npy(value: Any, *, pickled: bool = False) -> bytes:
    """Return the bytes of an array file."""
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=pickled)
    return stream.getvalue()


def head(shape: tuple[int, ...]) -> bytes:
    """Return an array file that announces a shape and holds 24 bytes."""
    stream = io.BytesIO()
    about = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue() + bytes(24)


def test_there_and_back(tmp_path: Path) -> None:
    """What is written is read, and numpy reads it without pickles, too."""
    from envcheck.goldens.document import read_golden

    path = golden(tmp_path / "a.golden")
    found = read_golden(str(path))

    assert found.inputs["x"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [item.name for item in found.outputs] == ["y"]
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["input.0"].shape == (2, 3)
    assert path.read_bytes() == golden(tmp_path / "b.golden").read_bytes()


HOSTILE: dict[str, dict[str, Any]] = {
    "pickle": {"input.0.npy": npy(np.array([object()], dtype=object), pickled=True)},
    "long": {"input.0.npy": npy(np.zeros((2, 3), "float32"))[:-4]},
    "giant": {"input.0.npy": head((1 << 60,))},
    "negative": {"input.0.npy": head((-1, -6))},
    "code": {"input.0.npy": npy(np.zeros(9, "float32")).replace(b"(9,), ", b"(1<<60")},
    "no_array": {"input.0.npy": None},
    "no_head": {"input.0.npy": b"\x93NUMPY"},
    "no_index": {"golden.json": None},
    "no_json": {"golden.json": b"{"},
    "list": {"golden.json": b"[]"},
    "deep": {"golden.json": b"[" * 100_000},
    "schema": {"golden.json": index(schema="envcheck.golden/9")},
    "empty": {"golden.json": index(inputs=[], outputs=[])},
    "wrong": {"golden.json": index(outputs={"y": 1})},
    "noise": {"golden.json": index(outputs=[
        {"name": "y", "array": "output.1", "noise": {"repeated": 1e9}}])},
    "nan": {"golden.json": index(outputs=[
        {"name": "y", "array": "output.1", "noise": {"repeated": float("nan")}}])},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, tmp_path: Path) -> None:
    """Whatever is wrong is one InputError."""
    from envcheck.goldens.document import read_golden

    with pytest.raises(InputError):
        read_golden(str(golden(tmp_path / "evil.golden", **HOSTILE[name])))


def test_files_that_are_none(tmp_path: Path) -> None:
    """A missing file, a folder, an empty file and a bomb are told."""
    from envcheck.goldens.document import read_arrays, read_golden

    (tmp_path / "empty").touch()
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(100 << 20))
    for name in ("missing", "", "empty", "bomb.npz"):
        with pytest.raises(InputError):
            read_golden(str(tmp_path / name))
    with pytest.raises(InputError):
        read_arrays(str(tmp_path / "bomb.npz"))


def test_distances() -> None:
    """Errors are per sample; flips, holes and integers count as they should."""
    from envcheck.goldens.measuring import distance

    base = np.array([[0.1, 0.9], [100.0, 50.0]], dtype="float32")
    near = base * np.float32(1 + 2e-7)
    wrong = base.copy()
    wrong[0] = [0.9, 0.1]

    def seen(value: Any, reference: Any = base) -> tuple[str, int, int]:
        found = distance("y", value, reference, 1e-7)
        return found.verdict, found.flips, found.decisions

    assert seen(base.copy()) == ("exact", 0, 2)
    assert seen(near) == ("noise", 0, 2)
    assert seen(wrong) == ("drift", 1, 2), "a small sample beside a large one is seen"
    holed = base.copy()
    holed[0, 0] = np.nan
    assert seen(holed)[0] == "drift"
    assert seen(holed, holed)[0] == "exact"
    ids = np.array([[1, 2], [3, 4]])
    assert seen(ids, ids)[0] == "exact"
    assert seen(ids + 1, ids)[0] == "drift"
