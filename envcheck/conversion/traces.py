"""Trace files: all layer outputs of one model under one runtime, to be compared elsewhere.

A trace is a folder or, more often, one zip file: `index.json` (`envcheck.trace/1`) and one `.npy`
per array, which are mapped or read one at a time.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck.conversion.trace_index import check_index
from envcheck.errors import InputError, OutputError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.conversion.arrays import Array

__all__ = ["SCHEMA", "Trace", "TraceWriter", "is_trace", "read_trace"]

SCHEMA = "envcheck.trace/1"
_INDEX = "index.json"
_LARGEST_INDEX = 64 << 20
_BROKEN = (
    OSError, ValueError, EOFError, RecursionError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading a damaged or hostile archive raises."""
_HEADER = 4096
"""Bytes that the header of an array may add to its file."""


@dataclass(kw_only=True)
class Trace:
    """A trace that was read: its index, and the arrays on demand.

    `entries` describe the arrays in order: name, op, shape, dtype, layer, order, key.
    """

    path: str
    index: Mapping[str, Any]
    entries: list[dict[str, Any]] = field(default_factory=list)

    def array(self, key: str) -> Array:
        """Return an array by the key of its entry. Raises InputError."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                name = f"arrays/{key}.npy"
                self._check(archive.getinfo(name), key)
                return self._parsed(archive.read(name), key)
        except InputError:
            raise
        except (KeyError, *_BROKEN) as problem:
            raise InputError(f"array {key} cannot be read: {problem}", place=self.path) from problem

    def _parsed(self, data: bytes, key: str) -> Array:
        """Return the array in a `.npy` file; its header must say what the index says."""
        import numpy as np

        stream, entry = io.BytesIO(data), self._by_key[key]
        version = np.lib.format.read_magic(stream)
        first = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        if list(shape) != entry["shape"] or str(dtype) != entry["dtype"]:
            raise InputError(f"array {key} is not the one of its index", place=self.path)
        flat = np.frombuffer(data, dtype, count=math.prod(shape), offset=stream.tell())
        return flat.reshape(shape, order="F" if fortran else "C")

    def _check(self, info: zipfile.ZipInfo, key: str) -> None:
        """Raise for a file that is larger or smaller than its entry says, before reading it."""
        import numpy as np

        entry = self._by_key[key]
        size = np.dtype(entry["dtype"]).itemsize * math.prod(entry["shape"])
        if not size <= info.file_size <= size + _HEADER:
            raise InputError(
                f"array {key} takes {info.file_size} bytes, where its index promises {size}",
                place=self.path,
            )

    @property
    def _by_key(self) -> dict[str, dict[str, Any]]:
        return {entry["key"]: entry for entry in self.entries if entry["key"] is not None}


def is_trace(path: str) -> bool:
    """Return whether a file is a trace, by its content."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _INDEX in archive.namelist() and not any(
                name == "metadata.json" for name in archive.namelist()
            )
    except _BROKEN:
        return False


def read_trace(path: str) -> Trace:
    """Return a trace. Raises InputError and SchemaError."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(_INDEX)
            if info.file_size > _LARGEST_INDEX:
                raise InputError("has an index of more than 64 MiB", place=path)
            index = json.loads(archive.read(_INDEX))
    except (KeyError, *_BROKEN) as problem:
        raise InputError(f"is no trace: {problem}", place=path) from problem
    schema = str(index.get("schema", "")) if isinstance(index, dict) else ""
    if not schema.startswith("envcheck.trace/"):
        raise InputError("is no trace: its index has no schema", place=path)
    if index["schema"] != SCHEMA:
        raise SchemaError(f"has schema {index['schema']}, this version reads {SCHEMA}", place=path)
    check_index(index, path)
    return Trace(path=path, index=index, entries=index["entries"])


class TraceWriter:
    """Writes a trace, one array at a time; the file appears when it is whole."""

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self._path = path
        self._scratch = f"{path}.part"
        self._index: dict[str, Any] = {"schema": SCHEMA, **header}
        self._entries: list[dict[str, Any]] = []
        try:
            self._archive = zipfile.ZipFile(self._scratch, "w", zipfile.ZIP_STORED)
        except OSError as problem:
            raise OutputError(f"cannot be written: {problem}", place=path) from problem

    def add(self, array: Array, **about: Any) -> None:
        """Write an array with what is known about it; text arrays are described, not stored."""
        import numpy as np

        key = f"{len(self._entries):05d}"
        stored = array.dtype.kind not in "OSU"
        if stored:
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            self._archive.writestr(f"arrays/{key}.npy", buffer.getvalue())
        self._entries.append({
            "key": key if stored else None, "order": len(self._entries),
            "shape": [int(size) for size in array.shape], "dtype": str(array.dtype), **about,
        })  # fmt: skip

    def close(self) -> None:
        """Write the index and put the file in place."""
        self._index["entries"] = self._entries
        text = json.dumps(self._index, indent=1, sort_keys=True, ensure_ascii=True)
        self._archive.writestr(_INDEX, text)
        self._archive.close()
        os.replace(self._scratch, self._path)

    def abandon(self) -> None:
        """Give up and leave nothing behind."""
        self._archive.close()
        if os.path.exists(self._scratch):
            os.unlink(self._scratch)
