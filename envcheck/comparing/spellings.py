"""Values that are spelled in several ways and mean the same."""

from __future__ import annotations

import codecs
import re
from typing import Any

__all__ = [
    "architecture",
    "encoding",
    "python_version",
    "same_text",
    "timezone",
    "unordered",
]

_RELEASE = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_ARCHITECTURES = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "x86-64": "x86_64",
    "arm64": "aarch64",
    "i386": "x86",
    "i586": "x86",
    "i686": "x86",
}
_UTC = frozenset({
    "utc", "etc/utc", "uct", "etc/uct", "gmt", "etc/gmt", "gmt0", "greenwich", "etc/greenwich",
    "zulu", "etc/zulu", "universal", "etc/universal", "z", "+00:00", "utc+00:00", "utc+0", "utc0",
})  # fmt: skip


def same_text(value: Any) -> Any:
    """Return a text without outer space and in small letters; other values as they are."""
    return value.strip().lower() if isinstance(value, str) else value


def architecture(value: Any) -> Any:
    """Return the usual name of a processor architecture: `x86_64` for `AMD64`."""
    lowered = same_text(value)
    return _ARCHITECTURES.get(lowered, lowered)


def python_version(value: Any) -> Any:
    """Return the release of a Python version: `3.13.0` for `3.13.0rc2` and `3.13.0+`.

    That is what installers judge Requires-Python by.
    """
    found = _RELEASE.match(value) if isinstance(value, str) else None
    return found.group() if found else value


def timezone(value: Any) -> Any:
    """Return a time zone with all names of UTC made one."""
    lowered = same_text(value)
    return "utc" if lowered in _UTC else lowered


def encoding(value: Any) -> Any:
    """Return the name that Python has for a text encoding: `ascii` for `ANSI_X3.4-1968`."""
    try:
        return codecs.lookup(str(value)).name
    except (LookupError, ValueError):
        return str(value).lower().replace("_", "-")


def unordered(value: Any) -> Any:
    """Return the members of a list as sorted text."""
    return sorted(str(item) for item in value) if isinstance(value, list) else value
