"""The report formats by name. A format is a file `as_NAME.py` here with one function `render`."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from envcheck.errors import UsageError
from envcheck.reporting.style import PLAIN, Style

if TYPE_CHECKING:
    from envcheck.findings import Report

__all__ = ["formats", "render"]

_PREFIX = "as_"


def formats() -> list[str]:
    """Return the names of the formats, sorted."""
    package = importlib.import_module("envcheck.reporting")
    names: set[str] = set()
    for folder in package.__path__:
        if os.path.isdir(folder):
            names.update(name.partition(".")[0] for name in os.listdir(folder))
        else:  # inside a zip file
            import pkgutil

            names.update(module.name for module in pkgutil.iter_modules([folder]))
    return sorted(name[len(_PREFIX) :] for name in names if name.startswith(_PREFIX))


def render(report: Report, format: str, style: Style = PLAIN) -> str:  # noqa: A002 - its name
    """Return the report in a format, ending in a line break.

    Raises UsageError for a format that does not exist.
    """
    if format not in formats():
        raise UsageError(
            f"unknown format {format!r}", hint=f"the formats are {', '.join(formats())}"
        )
    module = importlib.import_module(f"envcheck.reporting.{_PREFIX}{format}")
    text: str = module.render(report, style)
    return text
