"""The `packaging` library, wherever there is one.

An installed envcheck has it as a dependency. The single-file build and the Action run in
interpreters into which nothing is installed; there pip's own copy serves, and without pip the
questions that only `packaging` can answer stay open.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["packaging_module"]

_HOMES = ("packaging", "pip._vendor.packaging")


@cache
def packaging_module(name: str) -> Any:
    """Return a module of `packaging`, for example `version`, or None where there is none."""
    for home in _HOMES:
        try:
            return import_module(f"{home}.{name}")
        except ImportError:
            continue
    return None
