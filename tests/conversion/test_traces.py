# ruff: noqa: E402 - the skip comes before what needs numpy
"""Trace files that are cut off, damaged or hostile are refused, and none crashes the reader."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

np: Any = pytest.importorskip("numpy", reason="needs the onnx extra")

from envcheck.conversion.investigation import Options
from envcheck.conversion.trace_comparison import compare_traces
from envcheck.conversion.traces import TraceWriter, is_trace, read_trace
from envcheck.errors import EnvcheckError, InputError
from envcheck.schemas import schema
from tests.cli.running import envcheck

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALIDATOR = jsonschema.Draft202012Validator(schema("trace"))
X = np.arange(6, dtype="float32").reshape(2, 3)


def _entries() -> list[dict[str, Any]]:
    """Return the entries of a model that doubles its input and adds one."""
    call = {"kind": "call", "index": 0, "number": 0, "weighted": False, "output": None}
    return [
        {"kind": "input", "name": "x", "op": "input", "call": -1, "index": 0},
        {**call, "name": "double", "op": "Twice", "layer": "double", "call": 0, "reads": [[-1, 0]]},
        {**call, "name": "one", "op": "Plus", "layer": "one", "call": 1, "reads": [[0, 0]],
         "output": 0},
    ]  # fmt: skip


def _keras_trace(path: Path, add: float = 1.0) -> Path:
    writer = TraceWriter(str(path), {"model": "m", "runtime": {"runtime": "keras"}})
    for array, about in zip((X, 2 * X, 2 * X + add), _entries(), strict=True):
        writer.add(array.astype("float32"), **about)
    writer.close()
    return path


def _index(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("index.json"))


def _rewritten(path: Path, change: Callable[[Any], None]) -> str:
    """Change the index of a trace and leave its arrays as they are."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(held["index.json"])
    change(index)
    held["index.json"] = json.dumps(index).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return str(path)


def _compare(path: str, other: str = "") -> Any:
    return compare_traces(path, other or path, Options())


def test_what_we_write_fits_the_schema(tmp_path: Path) -> None:
    """The index of a trace is valid, and so is that of one with a text array."""
    path = _keras_trace(tmp_path / "a.trace")
    writer = TraceWriter(str(tmp_path / "b.trace"), {"runtime": {}, "environment": {}})
    writer.add(np.array(["a"], dtype=object), kind="tensor", name="words", op="Cast", node="n")
    writer.close()

    index = {**_index(path), "environment": {}}
    VALIDATOR.validate(index)
    VALIDATOR.validate(_index(tmp_path / "b.trace"))
    assert read_trace(str(tmp_path / "b.trace")).entries[0]["key"] is None


def test_sound_traces_compare(tmp_path: Path) -> None:
    """The same values match; a last layer that adds something else is named."""
    a, b = _keras_trace(tmp_path / "a.trace"), _keras_trace(tmp_path / "b.trace", add=1.5)
    same, other = _compare(str(a)), _compare(str(a), str(b))

    assert same.parity["verdict"] == "match"
    assert other.parity["verdict"] == "mismatch"
    assert other.parity["faults"][0]["layers"] == ["one"]


def _set(number: int, **members: Any) -> Callable[[Any], None]:
    return lambda index: index["entries"][number].update(members)


CHANGES: dict[str, tuple[Callable[[Any], None], str]] = {
    "no list": (lambda index: index.update(entries={}), "lists no entries"),
    "no object": (lambda index: index["entries"].append("x"), "entry 3 of its index is no object"),
    "a name missing": (lambda index: index["entries"][1].pop("name"), "entry 1 of its index lacks"),
    "a number as name": (_set(1, name=5), "a name that is not a text"),
    "a call as text": (_set(1, call="0"), "a call that is not the number of a call"),
    "a negative call": (_set(1, call=-7), "a call that is not"),
    "a true call": (_set(1, call=True), "a call that is not"),
    "an unknown kind": (_set(1, kind="x"), "a kind that is not"),
    "a path as key": (_set(1, key="../../etc/passwd"), "a key that is not of digits"),
    "the same key twice": (_set(2, key="00001"), "repeats a key"),
    "an object type": (_set(1, dtype="object"), "has dtype 'object'"),
    "another type": (_set(1, dtype="int64"), "not the one of its index"),
    "another shape": (_set(1, shape=[3, 2]), "not the one of its index"),
    "a huge shape": (_set(1, shape=[10**5, 10**5]), "promises 40000000000"),
    "an absurd shape": (_set(1, shape=[10**9] * 9), "a shape that is not"),
    "a negative size": (_set(1, shape=[-1, 6]), "a shape that is not"),
    "a cycle": (_set(1, reads=[[1, 0]]), "reads a call that comes after it"),
    "reads that are no pairs": (_set(1, reads=[[0]]), "a reads that is not"),
    "the same port twice": (_set(2, call=0), "repeats an output"),
    "a gap in the calls": (_set(2, call=7), "not numbered in order"),
    "no output": (_set(2, output=None), "marks no output"),
    "a missing array": (_set(1, key="77777"), "cannot be read"),
    "a runtime of text": (lambda index: index.update(runtime="keras"), "a runtime that is none"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_indexes_are_refused(name: str, tmp_path: Path) -> None:
    """What no trace holds is told with the file and the entry."""
    change, words = CHANGES[name]
    path = _rewritten(_keras_trace(tmp_path / "a.trace"), change)
    with pytest.raises(InputError) as caught:
        _compare(path)

    assert words in caught.value.problem
    assert caught.value.place == path


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """A file that ends early, at any place, is refused with a message."""
    whole = _keras_trace(tmp_path / "a.trace").read_bytes()
    cut = tmp_path / "cut.trace"
    for size in range(0, len(whole), 37):
        cut.write_bytes(whole[:size])
        assert not is_trace(str(cut))
        with pytest.raises(InputError):
            _compare(str(cut))


def test_every_damaged_byte_is_survived(tmp_path: Path) -> None:
    """With any one byte changed the file is refused, or read; nothing else is raised."""
    whole = _keras_trace(tmp_path / "a.trace").read_bytes()
    damaged = tmp_path / "damaged.trace"
    refused = 0
    for place in range(0, len(whole), 13):
        data = bytearray(whole)
        data[place] ^= 0xFF
        damaged.write_bytes(data)
        try:
            _compare(str(damaged))
        except EnvcheckError:
            refused += 1

    assert refused > 20


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """An array that unpacks to a gigabyte is refused by its declared size."""
    path = _keras_trace(tmp_path / "a.trace")
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            bomb = name == "arrays/00001.npy"
            archive.writestr(name, data + b"\0" * (64 << 20) if bomb else data)

    with pytest.raises(InputError, match="where its index promises 24"):
        _compare(str(path))


def test_an_array_whose_own_header_lies_is_refused(tmp_path: Path) -> None:
    """The header inside an array's file cannot ask for more than the file holds."""
    path = _keras_trace(tmp_path / "a.trace")
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    lie = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**7, 10**6)}
    np.lib.format.write_array_header_1_0(lie, header)
    held["arrays/00001.npy"] = lie.getvalue() + bytes(24)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)

    with pytest.raises(InputError, match="not the one of its index"):
        _compare(str(path))


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    """A hostile trace ends with one message and exit code 2."""
    path = _rewritten(_keras_trace(tmp_path / "a.trace"), _set(1, reads=[[1, 0]]))

    assert "comes after it" in only_trace_message(path)


def only_trace_message(path: str) -> str:
    """Return the message about a trace; it has no hint."""
    done = envcheck("parity", path, path)

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr
