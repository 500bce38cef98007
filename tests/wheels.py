"""Build small wheels and metadata folders by hand, for tests."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def metadata(name: str, version: str, *lines: str) -> str:
    """Return the text of a METADATA file."""
    head = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines]
    return "\n".join([*head, "", "A description.", "Name: not-me", ""])


def build_wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """Write a pure wheel with those files, and return its path."""
    info = f"{name}-{version}.dist-info"
    contents = {
        **files,
        f"{info}/METADATA": metadata(name, version),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\nTag: py2-none-any\n",
    }
    record = [_line(path, text) for path, text in contents.items()]
    contents[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    path = folder / f"{name}-{version}-py2.py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in contents.items():
            archive.writestr(inner, text)
    return path


def install(
    folder: Path, name: str, version: str, *, files: Mapping[str, str] | None = None, **meta: str
) -> Path:
    """Write a dist-info folder as an installer would, and return it.

    Keyword arguments are files of the metadata folder, with `_` for the dot: `WHEEL`,
    `INSTALLER`, `direct_url_json`, `METADATA`, `RECORD`.
    """
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    texts = {"METADATA": metadata(name, version)}
    if files is not None:
        lines = [_line(path, text) for path, text in files.items()]
        texts["RECORD"] = "\n".join([*lines, f"{info.name}/RECORD,,", ""])
        for path, text in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    texts |= {key.replace("_json", ".json").replace("_txt", ".txt"): v for key, v in meta.items()}
    for file, text in texts.items():
        (info / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    return info


def _line(path: str, text: str) -> str:
    """Return a line of RECORD, which is CSV."""
    quoted = f'"{path}"' if "," in path else path
    return f"{quoted},{_hash(text)},{len(text.encode())}"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
