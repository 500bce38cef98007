"""By which policy a seal was made, and whether a start states another one.

Files count by their content, so that they may lie elsewhere in the container. CPython 3.9,
standard library.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from envcheck.errors import EnvcheckError
from envcheck.fingerprint.files import read_bounded

__all__ = ["JUDGING", "digested", "stated_otherwise"]

JUDGING = (
    "config", "profile", "waivers", "baseline", "rules", "engine", "fail-on", "strict",
)  # fmt: skip
"""The options that findings and exit code depend on."""
_FILES = ("config", "waivers", "baseline")
_LARGEST = 32 << 20


def digested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that judge, with the digest of its content for each file and folder."""
    return {name: _digested(name, options[name]) for name in JUDGING if name in options}


def stated_otherwise(stated: Mapping[str, Any], judged: Mapping[str, Any]) -> list[str]:
    """Return the options that are stated and were not so when a seal was made."""
    return [
        name
        for name, value in digested(stated).items()
        if name not in judged or judged[name] != value
    ]


def _digested(name: str, value: Any) -> Any:
    if name == "rules":
        return [_folder(os.fspath(folder)) for folder in value]
    if value and (name in _FILES or (name == "profile" and str(value).endswith(".toml"))):
        return _file(os.fspath(value))
    return value


def _file(path: str) -> str:
    """Return the digest of a file; one that cannot be read is like no other."""
    try:
        return hashlib.sha256(read_bounded(path, _LARGEST)).hexdigest()
    except EnvcheckError:
        return f"unreadable: {path}"


def _folder(path: str) -> str:
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(".n3"))
    except OSError:
        return f"unreadable: {path}"
    lines = [f"{name} {_file(os.path.join(path, name))}\n" for name in names]
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
