"""External data of an ONNX model: which files it needs, and whether they are there and inside."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from envcheck.artefacts.files import Place, leaves_folder
from envcheck.artefacts.onnx_graph import Reference
from envcheck.artefacts.reading import Unreadable, Unsure

__all__ = ["External"]

_MOST_NAMES = 1_000


class External:
    """The files of external data that a model refers to."""

    def __init__(self, place: Place, references: Mapping[str, Reference]) -> None:
        self._place = place
        self._references = references
        self._missing: list[str] = []
        self._short: list[str] = []
        self._outside: list[str] = []
        self._bytes = 0

    def facts(self) -> dict[str, Any]:
        """Return the facts; nothing outside the folder of the model is opened."""
        names = sorted(self._references)
        if len(names) > _MOST_NAMES:
            raise Unreadable(f"refers to more than {_MOST_NAMES} files of external data")
        whole = hashlib.sha256()
        for name in names:
            self._visit(name, whole)
        out: dict[str, Any] = {"external_data": names}
        if names:
            out["external_missing"] = self._missing
            out["external_short"] = self._short
            out["external_outside"] = self._outside
        if names and not (self._missing or self._outside):
            out["external_bytes"] = self._bytes
            out["external_sha256"] = whole.hexdigest()
        return out

    def _visit(self, name: str, whole: Any) -> None:
        if not name or leaves_folder(name) or not self._is_inside(name):
            self._outside.append(name)
            return
        try:
            with self._place.sibling(name).open() as source:
                digest = hashlib.sha256()
                for data in source.chunks(0, source.size):
                    digest.update(data)
                size = source.size
        except (Unreadable, Unsure):
            self._missing.append(name)
            return
        if size < self._references[name].end:
            self._short.append(name)
        self._bytes += size
        whole.update(name.encode("utf-8", "surrogatepass") + b"\0" + digest.digest())

    def _is_inside(self, name: str) -> bool:
        """Return whether the file lies in the model's folder once links are followed."""
        try:
            folder = self._place.sibling(".").real()
            return self._place.sibling(name).real().startswith(folder.rstrip(os.sep) + os.sep)
        except (OSError, ValueError):
            return True
