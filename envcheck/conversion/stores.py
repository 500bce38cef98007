"""Arrays by name, in memory up to a budget and in files beyond it."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.conversion.arrays import Array

__all__ = ["DEFAULT_BUDGET", "Store"]

DEFAULT_BUDGET = 512 << 20
"""Bytes of layer outputs per side that stay in memory."""


class Store:
    """Arrays by name. What does not fit into `budget` bytes goes to a temporary folder."""

    def __init__(self, budget: int = DEFAULT_BUDGET) -> None:
        self._budget = budget
        self._held: dict[str, Array] = {}
        self._files: dict[str, str] = {}
        self._used = 0
        self._written = 0
        self._folder: str | None = None

    def put(self, name: str, array: Array) -> None:
        """Keep an array; a later one of the same name replaces it."""
        import numpy as np

        self.drop(name)
        if self._used + array.nbytes <= self._budget or array.dtype.hasobject:
            # An engine's output is a view of its arena, all of which a view would keep alive.
            self._held[name] = array if array.base is None else array.copy()
            self._used += array.nbytes
            return
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="envcheck-")
        path = os.path.join(self._folder, f"{self._written}.npy")
        self._written += 1
        np.save(path, array)
        self._files[name] = path

    def get(self, name: str) -> Array:
        """Return an array; one from a file is mapped, not read. Raises KeyError."""
        if name in self._held:
            return self._held[name]
        import numpy as np

        return np.load(self._files[name], mmap_mode="r")

    def drop(self, name: str) -> None:
        """Forget an array."""
        held = self._held.pop(name, None)
        if held is not None:
            self._used -= held.nbytes
        self._files.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._files

    def __iter__(self) -> Iterator[str]:
        yield from self._held
        yield from self._files

    def close(self) -> None:
        """Delete the files."""
        self._held.clear()
        self._files.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
