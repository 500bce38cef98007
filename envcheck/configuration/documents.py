"""Configuration files: which one applies, what it holds, and where each key stands."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from envcheck.configuration.mistakes import Mistakes
from envcheck.errors import InputError
from envcheck.fingerprint.files import read_bounded

if TYPE_CHECKING:
    from envcheck.configuration.lines import Path

__all__ = ["FILE_NAME", "Document", "find_configuration", "include", "read_document"]

FILE_NAME = "envcheck.toml"
PYPROJECT = "pyproject.toml"
SIZE_LIMIT = 1 << 20
_SECTION = ("tool", "envcheck")
_INCLUDED = ("policy", "waivers")
# Patterns stay texts here: `re` compiles one when it is first needed, which is often never.
_NAMED = (
    rb"""tool["']?\s*\.\s*["']?envcheck|(?m:^\s*(?:\[\s*["']?tool["']?\s*\]|["']?tool["']?\s*=))"""
)
"""Every way of naming `tool.envcheck`: as one dotted key, or inside a table `tool`."""
_AT = r" \(at line (\d+), column \d+\)\Z"


class Document:
    """The keys of one configuration with their places, those of included files too."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.data: dict[str, Any] = {}
        self.places: dict[Path, str] = {}

    def place(self, path: Path) -> str:
        """Return `FILE:LINE` of a key, or of the nearest table above it that has one."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return self.file

    def resolve(self, path: Path, name: str) -> str:
        """Return the path of a file that is named at a key, relative to that key's file."""
        file = self.place(path).rpartition(":")[0] or self.file
        return os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(name)))


def find_configuration(start: str) -> str | None:
    """Return the nearest configuration file in a folder or above it, or None.

    `envcheck.toml` comes before a `pyproject.toml` that has the table `[tool.envcheck]`. The
    search ends at the root of a repository and at the home folder.
    """
    home = os.path.expanduser("~")
    folder = os.path.abspath(start)
    while True:
        own = os.path.join(folder, FILE_NAME)
        if os.path.isfile(own):
            return own
        project = os.path.join(folder, PYPROJECT)
        if os.path.isfile(project) and _has_section(project):
            return project
        above = os.path.dirname(folder)
        if folder in (above, home) or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def _has_section(path: str) -> bool:
    """Return whether a pyproject.toml has our table; one that cannot be read has not."""
    try:
        content = read_bounded(path, SIZE_LIMIT)
    except InputError:
        return False
    if not re.search(_NAMED, content):  # most files; parsing would cost more than all the rest
        return False
    import tomllib

    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return re.search(rb"(?m)^\s*\[+\s*tool\s*\.\s*envcheck\b", content) is not None
    return isinstance(data.get("tool"), dict) and "envcheck" in data["tool"]


def read_document(path: str, mistakes: Mistakes, *, hint: str = "") -> Document:
    """Read a file; what cannot be read goes to `mistakes` and gives an empty document.

    Of a `pyproject.toml` only `[tool.envcheck]` counts.
    """
    import tomllib

    document = Document(path)
    try:
        text = read_bounded(path, SIZE_LIMIT).decode("utf-8").replace("\r\n", "\n")
        data: Any = tomllib.loads(text)
        from envcheck.configuration.lines import lines_of

        lines = lines_of(text)
    except InputError as problem:
        mistakes.add(path, problem.problem, hint or "--config and includes name a TOML file")
        return document
    except UnicodeDecodeError:
        mistakes.add(path, "is not UTF-8", "save it as UTF-8")
        return document
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        at = re.search(_AT, str(problem))
        message = f"is not TOML: {re.sub(_AT, '', str(problem))}"
        mistakes.add(f"{path}:{at[1]}" if at else path, message, "see https://toml.io")
        return document
    prefix = _SECTION if os.path.basename(path) == PYPROJECT else ()
    for key in prefix:
        data = data.get(key, {}) if isinstance(data, dict) else {}
    if not isinstance(data, dict):
        mistakes.add(f"{path}:{lines.get(prefix, 1)}", "[tool.envcheck] must be a table")
        data = {}
    document.data = data
    skip = len(prefix)
    document.places = {
        where[skip:]: f"{path}:{line}" for where, line in lines.items() if where[:skip] == prefix
    }
    return document


def include(document: Document, mistakes: Mistakes) -> None:
    """Put the content of included files in the place of their names."""
    for name in _INCLUDED:
        if isinstance(document.data.get(name), str):
            _include(document, (name,), mistakes, inner=name if name == "waivers" else None)
    profile = document.data.get("profile")
    if isinstance(profile, str) and profile.endswith(".toml"):
        title = os.path.basename(profile).removesuffix(".toml")
        profiles = document.data.setdefault("profiles", {})
        if isinstance(profiles, dict):
            if title in profiles:
                mistakes.add(
                    document.place(("profile",)),
                    f"the included profile {title!r} is defined in [profiles] too",
                    "rename one of them",
                )
            document.places[("profiles", title)] = document.place(("profile",))
            profiles[title] = profile
            _include(document, ("profiles", title), mistakes, inner=None)
            document.data["profile"] = title


def _include(document: Document, path: Path, mistakes: Mistakes, *, inner: str | None) -> None:
    """Mount an included file at a key; `inner` is the key in that file that holds the content."""
    parent: Any = document.data
    for key in path[:-1]:
        parent = parent[key]
    name = parent[path[-1]]
    file = document.resolve(path, name)
    place = document.place(path)
    included = read_document(file, mistakes, hint=f"{place} includes it")
    content: Any = included.data
    if inner is not None:
        for key in included.data.keys() - {inner}:
            hint = f"the file holds [[{inner}]] only"
            mistakes.add(included.place((key,)), f"unknown key {key!r}", hint)
        content = included.data.get(inner, [])
    skip = 0 if inner is None else 1
    for where, at in included.places.items():
        document.places[(*path, *where[skip:])] = at
    parent[path[-1]] = content
