"""Write configuration files and load them on a known day."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from envcheck.configuration import Configuration, load_configuration

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2026, 11, 30)


def load(folder: Path, *, files: dict[str, str] | None = None, **options: Any) -> Configuration:
    """Write files into a folder and load the configuration that applies there."""
    for name, text in (files or {}).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    given = {"environment": {}, "today": TODAY, "folder": str(folder), **options}
    return load_configuration(**given)
