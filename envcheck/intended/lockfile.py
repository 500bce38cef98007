"""Read lock files of PEP 751 (pylock.toml)."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName

from envcheck.errors import InputError
from envcheck.fingerprint.files import read_bounded
from envcheck.intended.wanted import Wanted, markers_note, to_facts

if TYPE_CHECKING:
    from envcheck.facts import Facts

__all__ = ["from_pylock"]

_SIZE_LIMIT = 32 << 20
_INDEX = re.compile(r"packages\[(\d+)\]")
_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def from_pylock(path: str) -> Facts:
    """Return the packages that a pylock.toml locks, as facts.

    Markers are evaluated for the running interpreter, with the lock's default groups and no
    extras. Raises InputError with file and line.
    """
    text = _text(path)
    lock = _parse(text, path)
    lines = _package_lines(text)
    groups = set(lock.default_groups or ())
    wanted: dict[str, Wanted] = {}
    for index, package in enumerate(lock.packages):
        place = f"{path}:{lines[index]}" if index < len(lines) else path
        if package.marker is None or _applies(package, groups, place):
            name = str(package.name)
            if name in wanted:
                raise InputError(
                    f"locks {name} twice for this interpreter; the first is at "
                    f"{wanted[name].place}",
                    place=place,
                )
            wanted[name] = _wanted(package, place)
    return to_facts(
        wanted.values(),
        kind="lock",
        complete=True,
        note=markers_note([path], markers=any(package.marker for package in lock.packages)),
    )


def _text(path: str) -> str:
    try:
        return read_bounded(path, _SIZE_LIMIT).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"is not UTF-8 text (byte {problem.start})", place=path) from problem
    except InputError as problem:
        raise InputError(problem.problem, place=problem.place) from problem


def _parse(text: str, path: str) -> Any:
    try:
        from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
    except ImportError as problem:
        raise InputError(
            "reading a lock needs a newer packaging",
            place=path,
            hint="python -m pip install --upgrade packaging",
        ) from problem
    try:
        return Pylock.from_dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        line = _LINE.search(str(problem))
        place = f"{path}:{line[1]}" if line else path
        said = _LINE.sub("", str(problem)).strip()
        raise InputError(f"is not TOML: {said}", place=place) from problem
    except PylockUnsupportedVersionError as problem:
        raise InputError(f"is of a newer kind: {problem}", place=path) from problem
    except PylockValidationError as problem:
        raise InputError(
            f"is no lock of PEP 751: {problem}", place=_place_of(problem, text, path)
        ) from problem
    except RecursionError as problem:
        raise InputError("is nested too deeply", place=path) from problem


def _package_lines(text: str) -> list[int]:
    """Return the line on which each `[[packages]]` begins."""
    lines = enumerate(text.splitlines(), 1)
    return [number for number, line in lines if re.match(r"\s*\[\[\s*packages\s*\]\]", line)]


def _place_of(problem: Exception, text: str, path: str) -> str:
    found = _INDEX.search(getattr(problem, "context", None) or "")
    lines = _package_lines(text)
    return f"{path}:{lines[int(found[1])]}" if found and int(found[1]) < len(lines) else path


def _applies(package: Any, groups: set[str], place: str) -> bool:
    try:
        return bool(
            package.marker.evaluate(
                {"extras": set(), "dependency_groups": groups}, context="lock_file"
            )
        )
    except (UndefinedComparison, UndefinedEnvironmentName) as problem:
        raise InputError(f"the marker of {package.name} cannot be evaluated", place=place) from (
            problem
        )


def _wanted(package: Any, place: str) -> Wanted:
    version = str(package.version) if package.version is not None else ""
    origin: dict[str, Any] = {"name": str(package.name), "place": place, "version": version}
    if package.vcs is not None:
        return Wanted(
            **origin,
            origin="vcs",
            origin_url=package.vcs.url or "",
            origin_revision=package.vcs.commit_id,
        )
    if package.directory is not None:
        return Wanted(**origin, origin="directory", editable=bool(package.directory.editable))
    if package.archive is not None:
        digest = package.archive.hashes.get("sha256")
        return Wanted(
            **origin,
            origin="archive",
            origin_url=package.archive.url or "",
            origin_revision=f"sha256={digest}" if digest else "",
        )
    return Wanted(**origin, specifier=f"=={version}" if version else "")
