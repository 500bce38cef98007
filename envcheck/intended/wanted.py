"""What a file wants installed, and how that is told as facts."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envcheck.errors import InputError
from envcheck.facts import ok
from envcheck.probing.redaction import strip_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envcheck.facts import Facts

__all__ = ["Wanted", "combine", "exact_version", "markers_note", "shown", "to_facts"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One distribution that a file asks for."""

    name: str
    """Empty where the file does not tell it, as for a folder without metadata."""
    place: str
    """`file:line` for messages."""
    specifier: str = ""
    version: str = ""
    extras: tuple[str, ...] = ()
    origin: str = ""
    origin_url: str = ""
    origin_revision: str = ""
    editable: bool = False
    hashed: bool = False

    def value(self) -> dict[str, Any]:
        """Return the value of the package's fact."""
        value: dict[str, Any] = {
            "version": self.version,
            "specifier": self.specifier,
            "wanted_extras": sorted(self.extras),
            "origin": self.origin,
            "origin_url": strip_url(self.origin_url),
            "origin_revision": self.origin_revision,
            "editable": self.editable,
        }
        return {key: item for key, item in value.items() if item}


def combine(first: Wanted, second: Wanted) -> Wanted:
    """Return one wish for two of the same name; both have to be met.

    Raises InputError where two different exact versions are asked for.
    """
    versions = {wanted.version for wanted in (first, second) if wanted.version}
    if len(versions) > 1:
        raise InputError(
            f"wants {first.name} {second.version}, but {first.place} wants {first.version}",
            place=second.place,
            hint="keep one of the two lines",
        )
    return replace(
        first,
        specifier=str(SpecifierSet(first.specifier) & SpecifierSet(second.specifier)),
        version=first.version or second.version,
        extras=tuple(sorted({*first.extras, *second.extras})),
        origin=first.origin or second.origin,
        origin_url=first.origin_url or second.origin_url,
        origin_revision=first.origin_revision or second.origin_revision,
        editable=first.editable or second.editable,
        hashed=first.hashed and second.hashed,
    )


def exact_version(specifier: str) -> str:
    """Return the one version that a specifier allows, or nothing."""
    for clause in SpecifierSet(specifier):
        exact = clause.operator == "==" and not clause.version.endswith(".*")
        if exact or clause.operator == "===":
            return clause.version
    return ""


def to_facts(wanted: Iterable[Wanted], *, kind: str, complete: bool, note: str) -> Facts:
    """Return the facts of an intended environment: packages alone, nothing about the machine."""
    items = list(wanted)
    named = {canonicalize_name(item.name): item for item in items if item.name}
    nameless = sorted(os.path.basename(item.place) for item in items if not item.name)
    facts: Facts = {
        f"package.{name}": ok(item.value(), os.path.basename(item.place))
        for name, item in named.items()
    }
    facts["python.packages"] = ok(
        {"complete": complete, "count": len(named), "kind": kind, "nameless": nameless}, note
    )
    return dict(sorted(facts.items()))


def markers_note(files: Sequence[str], *, markers: bool) -> str:
    """Return where the packages come from, and for which interpreter markers were evaluated."""
    names = ", ".join(dict.fromkeys(os.path.basename(file) for file in files))
    if not markers:
        return names
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    system = f"{sys.platform} {platform.machine()}"
    return f"{names}, markers evaluated for Python {minor} on {system}"


def shown(text: str) -> str:
    """Return a piece of the file for a message: short, printable, without credentials."""
    words = [strip_url(word) or word if "://" in word else word for word in text.split()]
    line = "".join(char if char.isprintable() else "?" for char in " ".join(words))
    return repr(line if len(line) <= 80 else f"{line[:79]}…")
