"""Read requirement files: what pip would be asked to install.

Lines are taken apart here, and each requirement is read by pip-api, which knows addresses,
local projects and wheel names. Markers are split off first: pip-api removes the blanks of a
line, and with them the meaning of `and` and `or`.
"""

from __future__ import annotations

import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.markers import InvalidMarker, Marker, UndefinedComparison
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from envcheck.errors import InputError, MissingExtra
from envcheck.intended.lines import Line, read_lines
from envcheck.intended.wanted import Wanted, combine, exact_version, markers_note, shown, to_facts

if TYPE_CHECKING:
    from envcheck.facts import Facts

__all__ = ["from_requirements"]

_VCS = re.compile(r"(?P<kind>git|hg|svn|bzr)\+(?P<url>[^\s#]+)")
_NAMED_URL = re.compile(r"[\w.-]+\s*(?:\[[^\]]*\])?\s*@\s*\S")
_HASH = re.compile(r"[#&](?P<hash>sha(?:256|384|512)=[0-9a-fA-F]{40,128})")
_PEP508 = "name, extras and versions as in: torch[extra]==2.4.0 ; python_version >= '3.11'"


class _Split(NamedTuple):
    text: str
    marker: str


class _Asked(NamedTuple):
    name: str
    specifier: str
    extras: tuple[str, ...]
    url: str


def from_requirements(path: str) -> Facts:
    """Return the packages that a requirements file wants, as facts.

    Included files and constraints are followed; markers are evaluated for the running
    interpreter, which the source of `python.packages` says. The list is complete only where
    every requirement has a hash, for pip then refuses anything that is not listed.

    Raises InputError with file and line.
    """
    lines, files = read_lines(path)
    if not any(not line.constraint for line in lines):
        raise InputError("asks for no package", place=path)
    with tempfile.TemporaryDirectory(prefix="envcheck-") as folder:
        reader = _PipApi(folder)
        splits = [(line, _split_marker(line)) for line in lines]
        found = [
            (line, _read(line, split.text, reader))
            for line, split in splits
            if not split.marker or _applies(split.marker, line)
        ]
    wanted, nameless = _merged([item for line, item in found if not line.constraint])
    limits, _ = _merged([item for line, item in found if line.constraint and item.name])
    for name, limit in limits.items():
        if name in wanted:
            wanted[name] = combine(wanted[name], limit)
    everything = [*wanted.values(), *nameless]
    return to_facts(
        everything,
        kind="requirements",
        complete=bool(everything) and all(item.hashed for item in everything),
        note=markers_note(files, markers=any(split.marker for _, split in splits)),
    )


def _merged(items: list[Wanted]) -> tuple[dict[str, Wanted], list[Wanted]]:
    out: dict[str, Wanted] = {}
    for item in items:
        if item.name:
            name = canonicalize_name(item.name)
            out[name] = combine(out[name], item) if name in out else item
    return out, [item for item in items if not item.name]


def _split_marker(line: Line) -> _Split:
    """Return the requirement and its marker; inside an address only ` ;` begins a marker."""
    separator = " ;" if "://" in line.text else ";"
    text, _, marker = line.text.partition(separator)
    return _Split(text.strip(), marker.strip())


def _applies(marker: str, line: Line) -> bool:
    try:
        return Marker(marker).evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison) as problem:
        raise InputError(
            f"the marker {shown(marker)} is not valid", place=line.place, hint=_PEP508
        ) from problem


class _PipApi:
    """Asks pip-api what one requirement means; it reads files only, so each gets one."""

    def __init__(self, folder: str) -> None:
        self._file = os.path.join(folder, "requirement.txt")
        self._pip_api = _import_pip_api()

    def ask(self, text: str) -> _Asked | str:
        """Return what pip-api understands, or why it does not."""
        with open(self._file, "w", errors="backslashreplace") as file:
            file.write(f"{text}\n")
        try:
            answer = self._pip_api.parse_requirements(self._file, include_invalid=True)
        except (self._pip_api.exceptions.PipError, OSError, ValueError, SystemExit) as problem:
            return str(problem)
        except (AssertionError, AttributeError, KeyError, SyntaxError) as problem:
            return str(problem)
        found: Any = next(iter(answer.values()), None)
        if found is None or not hasattr(found, "specifier"):
            return str(getattr(found, "msg", "it is no requirement"))
        return _Asked(
            found.name, str(found.specifier), tuple(sorted(found.extras)), found.url or ""
        )


def _import_pip_api() -> Any:
    import subprocess

    try:
        import pip_api
        import pip_api.exceptions
    except (subprocess.SubprocessError, OSError) as problem:
        raise InputError(
            "reading requirement files needs pip beside envcheck, and it is missing",
            hint="python -m ensurepip",
        ) from problem
    except ImportError as problem:
        raise MissingExtra("pip-api", "all", "reading requirement files") from problem
    return pip_api


def _read(line: Line, text: str, reader: _PipApi) -> Wanted:
    """Return what one line asks for."""
    vcs = _VCS.search(text)
    if vcs:
        return _from_vcs(line, text, vcs, reader)
    local = _local_path(line, text)
    if local:
        return _from_local(line, local, reader)
    if "://" in text and not _NAMED_URL.match(text):
        return _from_archive(line, text)
    if text.startswith((".", "/")) or (os.sep in text and "@" not in text):
        raise InputError(f"{shown(text)} does not exist", place=line.place)
    # pip-api would read `foo bar` as foobar.
    asked = reader.ask(text) if _is_requirement(text) else ""
    if isinstance(asked, str):
        raise InputError(f"{shown(text)} is no requirement", place=line.place, hint=_PEP508)
    if asked.url:
        archive = _from_archive(line, asked.url)
        return _named(line, asked, archive)
    return Wanted(
        name=asked.name,
        place=line.place,
        specifier=asked.specifier,
        version=exact_version(asked.specifier),
        extras=asked.extras,
        hashed=line.hashed,
    )


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _named(line: Line, asked: _Asked, archive: Wanted) -> Wanted:
    """Return `name @ address`: the line's own name over the one in the address."""
    same = canonicalize_name(archive.name) == canonicalize_name(asked.name)
    return Wanted(
        name=asked.name,
        place=line.place,
        version=archive.version if same else "",
        extras=asked.extras,
        origin=archive.origin,
        origin_url=archive.origin_url,
        origin_revision=archive.origin_revision,
        hashed=line.hashed or bool(archive.origin_revision),
    )


def _from_vcs(line: Line, text: str, vcs: re.Match[str], reader: _PipApi) -> Wanted:
    head, _, tail = vcs["url"].rpartition("/")
    repository, _, revision = tail.partition("@")
    asked = reader.ask(f"-e {vcs.group()}{_fragment(text)}" if not _NAMED_URL.match(text) else text)
    known = isinstance(asked, _Asked)
    return Wanted(
        name=asked.name if isinstance(asked, _Asked) else "",
        place=line.place,
        extras=asked.extras if isinstance(asked, _Asked) else (),
        origin="vcs",
        origin_url=f"{head}/{repository}",
        origin_revision=revision,
        editable=line.editable and known,
    )


def _fragment(text: str) -> str:
    _, mark, fragment = text.partition("#")
    return mark + fragment


def _local_path(line: Line, text: str) -> str:
    """Return the local file or folder that a line names, beside the file or here, or nothing."""
    path = re.sub(r"\[[^\]]*\]$", "", text.removeprefix("file://"))
    if "://" in path or not (line.editable or path.startswith(".") or _is_path(path)):
        return ""
    for folder in (line.folder, "."):
        candidate = os.path.join(folder, path)
        if os.path.exists(candidate):
            return os.path.normpath(os.path.abspath(candidate))
    return ""


def _is_path(path: str) -> bool:
    return "/" in path or os.sep in path or path.endswith((".whl", ".zip", ".tar.gz"))


def _from_local(line: Line, path: str, reader: _PipApi) -> Wanted:
    if not os.path.isdir(path):
        return _from_archive(line, path)
    asked = reader.ask(f"-e {path}") if " " not in path else ""
    return Wanted(
        name=asked.name if isinstance(asked, _Asked) else "",
        place=line.place,
        origin="directory",
        editable=line.editable,
    )


def _from_archive(line: Line, url: str) -> Wanted:
    """Return what the file name of a wheel or source archive tells."""
    hashed = _HASH.search(url)
    address = re.split(r"[?#]", url, maxsplit=1)[0]
    name, version = _in_file_name(address.rpartition("/")[2])
    egg = re.search(r"[#&]egg=([\w.-]+)", url)
    local = "://" not in url or url.startswith("file:")
    return Wanted(
        name=name or (egg[1] if egg else ""),
        place=line.place,
        version=version,
        origin="archive",
        origin_url="file://" if local else address,
        origin_revision=hashed["hash"] if hashed else "",
        hashed=line.hashed or bool(hashed),
    )


def _in_file_name(name: str) -> tuple[str, str]:
    from urllib.parse import unquote

    name = unquote(name)
    try:
        if name.endswith(".whl"):
            project, version, _, _ = parse_wheel_filename(name)
        else:
            project, version = parse_sdist_filename(name)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return "", ""
    return project, str(version)
