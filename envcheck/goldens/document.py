"""Golden files: what was recorded, as a zip of one JSON index and one `.npy` file per array.

`golden.json` has the schema `envcheck.golden/1`: the model, the runtime, where the inputs come
from, and for each input and output its name, shape, type and array; for each output also the
noise that was measured; and, where that was asked for, what is known of each layer, with the
sketches of all of them in one array. Arrays are plain numbers or text, never pickles, so
`numpy.load` reads the file, too. A file may come from anywhere, so reading it is bounded.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import TYPE_CHECKING, Any

from envcheck.artefacts.archives import Archive
from envcheck.artefacts.reading import Unreadable, open_regular
from envcheck.errors import InputError, OutputError, SchemaError
from envcheck.goldens.layers import WIDTH, Layer
from envcheck.records import field, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = Any

__all__ = ["SCHEMA", "Golden", "Output", "read_arrays", "read_golden", "write_golden"]

SCHEMA = "envcheck.golden/1"
_INDEX = "golden.json"
_SKETCHES = "layers"
_LARGEST_INDEX = 4 << 20
_LARGEST_ARRAY = 1 << 30
_MOST_ARRAYS = 1_000
_RECORD = "make one with: envcheck golden record MODEL -o FILE"
_INPUTS = "inputs are a .npz or .npy file of numbers or text, without pickles"


@record
class Output:
    """One recorded output, and its noise: the relative error that each change of setting made."""

    name: str
    value: Array
    noise: Mapping[str, float]

    @property
    def largest_noise(self) -> float:
        """The largest of the measured errors."""
        return max(self.noise.values(), default=0.0)


@record
class Golden:
    """A recording. `raw` holds the inputs of the user's preprocessing, where there was one."""

    inputs: Mapping[str, Array]
    outputs: tuple[Output, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    """model, runtime, machine, origin of the inputs, name of the entry, time and tool."""
    raw: Mapping[str, Array] = field(default_factory=dict)
    layers: tuple[Layer, ...] = ()
    """Digests of what each layer gave, in the order of the calls."""


def write_golden(path: str, golden: Golden) -> None:
    """Write a golden file, whole or not at all. Raises OutputError."""
    arrays: dict[str, Array] = {}

    def stored(kind: str, name: str, value: Array) -> dict[str, Any]:
        key = f"{kind}.{len(arrays)}"
        arrays[key] = value
        return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype), "array": key}

    index = {
        "schema": SCHEMA,
        **golden.about,
        "raw": [stored("raw", name, value) for name, value in golden.raw.items()],
        "inputs": [stored("input", name, value) for name, value in golden.inputs.items()],
        "outputs": [
            {**stored("output", item.name, item.value), "noise": dict(item.noise)}
            for item in golden.outputs
        ],
    }
    if golden.layers:
        index["layers"] = _layer_entries(golden.layers, arrays)
    target = os.path.realpath(path)
    temporary = f"{target}.{os.urandom(6).hex()}.tmp"
    try:
        with zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, _INDEX, json.dumps(index, indent=1, sort_keys=True).encode("ascii"))
            for key, value in arrays.items():
                _add(archive, f"{key}.npy", _npy(value))
        os.replace(temporary, target)
    except OSError as problem:
        if os.path.exists(temporary):
            os.unlink(temporary)
        reason = problem.strerror or str(problem)
        raise OutputError(f"cannot be written: {reason}", place=path, hint=_RECORD) from problem


def _layer_entries(layers: tuple[Layer, ...], arrays: dict[str, Array]) -> list[dict[str, Any]]:
    """Return the index of the layers; all sketches together are one array."""
    import numpy as np

    arrays[_SKETCHES] = np.stack([layer.sketch for layer in layers])
    members = ("name", "kind", "dtype", "size", "norm", "holes", "noise")
    return [{name: getattr(layer, name) for name in members} for layer in layers]


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    # Constant arrays shrink so far that a reader would take them for a bomb.
    small = len(data) < 1 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def _npy(value: Array) -> bytes:
    import numpy as np

    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(value) if value.ndim else value, allow_pickle=False)
    return stream.getvalue()


def read_golden(path: str) -> Golden:
    """Return the recording in a file. Raises InputError and SchemaError."""
    try:
        with open_regular(path) as source:
            archive = Archive(source)
            if _INDEX not in archive.names:
                raise InputError("is no golden file", place=path, hint=_RECORD)
            index = json.loads(archive.read(_INDEX, _LARGEST_INDEX))
            if not isinstance(index, dict) or index.get("schema") != SCHEMA:
                raise SchemaError("is of no schema known here", place=path, hint=_RECORD)
            return _golden(index, archive)
    except Unreadable as problem:
        raise InputError(str(problem), place=path, hint=_RECORD) from problem
    except OSError as problem:
        reason = (problem.strerror or "cannot be read").lower()
        raise InputError(reason, place=path, hint=_RECORD) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise InputError(
            f"its index is broken: {type(problem).__name__}", place=path, hint=_RECORD
        ) from problem


def _golden(index: dict[str, Any], archive: Archive) -> Golden:
    parts: dict[str, list[Any]] = {name: index[name] for name in ("raw", "inputs", "outputs")}
    if sum(len(items) for items in parts.values()) > _MOST_ARRAYS:
        raise Unreadable(f"holds more than {_MOST_ARRAYS} arrays")
    if not parts["inputs"] or not parts["outputs"]:
        raise Unreadable("records no inputs or no outputs, so nothing can be replayed")

    def value(item: dict[str, Any]) -> Array:
        name = f"{item['array']}.npy"
        if name not in archive.names:
            raise Unreadable(f"lacks the array {str(item['array'])[:60]}")
        return _parse_npy(archive.read(name, _LARGEST_ARRAY))

    outputs = tuple(
        Output(str(item["name"]), value(item), _noise(item["noise"])) for item in parts["outputs"]
    )
    layers: tuple[Layer, ...] = ()
    if index.get("layers"):
        sketches = value({"array": _SKETCHES})
        layers = _layers(index["layers"], sketches)
    rest = {key: found for key, found in index.items() if key not in (*parts, "layers", "schema")}
    return Golden(
        inputs={str(item["name"]): value(item) for item in parts["inputs"]},
        outputs=outputs,
        about=rest,
        raw={str(item["name"]): value(item) for item in parts["raw"]},
        layers=layers,
    )


def _layers(entries: list[dict[str, Any]], sketches: Array) -> tuple[Layer, ...]:
    import numpy as np

    if sketches.shape != (len(entries), WIDTH) or sketches.dtype.kind != "f":
        raise Unreadable("its digests of layers are not of the right shape")
    norms = [float(item["norm"]) for item in entries]
    sizes = [size for item in entries for size in (int(item["size"]) - 1, int(item["holes"]))]
    if not np.isfinite(sketches).all() or not all(0 <= norm < float("inf") for norm in norms):
        raise Unreadable("its digests of layers are not finite")
    if min(sizes, default=0) < 0:
        raise Unreadable("states a layer that is smaller than nothing")
    return tuple(
        Layer(
            name=str(item["name"]),
            kind=str(item["kind"]),
            dtype=str(item["dtype"]),
            size=int(item["size"]),
            norm=float(item["norm"]),
            holes=int(item["holes"]),
            sketch=sketches[number],
            noise=_noise({"layer": item["noise"]})["layer"],
        )
        for number, item in enumerate(entries)
    )


def _noise(data: dict[str, Any]) -> dict[str, float]:
    """Return the noise of an output; a noise that hides every drift is refused."""
    out = {str(name): float(size) for name, size in data.items()}
    if any(not 0 <= size < 1 for size in out.values()):
        raise Unreadable("states a noise that is none: it must lie between 0 and 1")
    return out


def read_arrays(path: str) -> dict[str, Array]:
    """Return the arrays of a `.npz` or `.npy` file, or the bytes of any other as `data`.

    Raises InputError.
    """
    import numpy as np

    try:
        with open_regular(path) as source:
            if source.size > _LARGEST_ARRAY:
                raise Unreadable(f"is larger than {_LARGEST_ARRAY >> 20} MiB")
            if path.lower().endswith(".npz"):
                archive = Archive(source)
                names = [name for name in archive.names if name.endswith(".npy")]
                return {name[:-4]: _parse_npy(archive.read(name, _LARGEST_ARRAY)) for name in names}
            data = b"".join(source.chunks(0, source.size))
    except Unreadable as problem:
        raise InputError(str(problem), place=path, hint=_INPUTS) from problem
    except OSError as problem:
        reason = (problem.strerror or "cannot be read").lower()
        raise InputError(reason, place=path, hint=_INPUTS) from problem
    if path.lower().endswith(".npy"):
        try:
            return {"data": _parse_npy(data)}
        except Unreadable as problem:
            raise InputError(str(problem), place=path, hint=_INPUTS) from problem
    return {"data": np.frombuffer(data, dtype=np.uint8)}


def _parse_npy(data: bytes) -> Array:
    """Return an array; its head must announce just the bytes that are there. Raises Unreadable."""
    import math

    import numpy as np
    from numpy.lib import format as npy

    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        reader = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = reader(stream)
    except Exception as problem:
        raise Unreadable("holds an array whose head is broken") from problem
    if dtype.hasobject:
        raise Unreadable("holds pickled objects, which are never loaded")
    body = data[stream.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise Unreadable("holds an array that is not as long as its head says")
    order: Any = "F" if fortran else "C"
    return np.frombuffer(body, dtype=dtype).reshape(shape, order=order)
