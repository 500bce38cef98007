"""Find the runtimes: the modules of this folder, and entry points."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError, UsageError

if TYPE_CHECKING:
    from envcheck.conversion.runtimes.protocol import Candidate, RuntimeModule, Settings

__all__ = ["GROUP", "open_file", "runtimes"]

GROUP = "envcheck.runtimes"
_OTHERS = {"discovery", "protocol", "onnx_candidate"}


def runtimes() -> dict[str, Any]:
    """Return the runtimes by name: those of this folder, then those of entry points."""
    from importlib.metadata import entry_points

    package = importlib.import_module("envcheck.conversion.runtimes")
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in _OTHERS:
            loaded = importlib.import_module(f"{package.__name__}.{module.name}")
            found[loaded.NAME] = loaded
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point.load())
    return found


def open_file(path: str, settings: Settings, runtime: str = "") -> Candidate:
    """Load a candidate under the named runtime, or the first that takes files of its ending.

    Raises Failure, InputError, MissingExtra and UsageError.
    """
    known = runtimes()
    if runtime and runtime not in known:
        raise UsageError(f"unknown runtime {runtime!r}", hint=f"there are {', '.join(known)}")
    if runtime:
        return _opened(known[runtime], path, settings)
    suffix = os.path.splitext(path)[1].lower()
    ordered = sorted(known.values(), key=lambda module: module.NAME != "onnxruntime")
    for module in ordered:
        if suffix in module.SUFFIXES or (os.path.isdir(path) and "" in module.SUFFIXES):
            return _opened(module, path, settings)
    listed = ", ".join(sorted({s for m in known.values() for s in m.SUFFIXES if s}))
    raise InputError("no runtime takes this file", place=path, hint=f"candidates are {listed}")


def _opened(module: RuntimeModule, path: str, settings: Settings) -> Candidate:
    return module.open_candidate(path, settings)
