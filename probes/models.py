"""Model files named with `--model`: format, writer, interfaces, code; nothing is loaded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envcheck.facts import Fact, Facts, error, ok, unknown

if TYPE_CHECKING:
    from envcheck.artefacts.files import Place
    from envcheck.probing.host import Host


def probe(host: Host) -> Facts:
    """Return one fact per model; two models of one file name are told apart by a number."""
    facts: Facts = {}
    if not host.models:
        return facts
    from envcheck.artefacts.files import Place

    seen = set()
    for path in host.models:
        place = Place(_spelled(host, path), host.path)
        if place.path not in seen:
            seen.add(place.path)
            facts[_key(place, facts)] = _fact(place)
    return facts


def _spelled(host: Host, path: str) -> str:
    """Return a path as the host wants it: absolute, below the root of a host that has one."""
    if host.root == os.path.abspath(os.sep):
        return os.path.abspath(path)
    return os.path.normpath(os.path.join(os.sep, path))


def _key(place: Place, taken: Facts) -> str:
    """Return the key of a model, which never holds a folder name."""
    name = "".join(char if char.isprintable() else "_" for char in place.name) or "model"
    key, number = f"model.{name}", 1
    while key in taken:
        number += 1
        key = f"model.{name}~{number}"
    return key


def _fact(place: Place) -> Fact:
    from envcheck.artefacts import describing
    from envcheck.artefacts.reading import Unreadable, Unsure, clip

    try:
        return ok(describing.describe(place))
    except Unreadable as problem:
        return error(f"{clip(place.name)} {problem}")
    except Unsure as problem:
        return unknown(f"{clip(place.name)} {problem}")
    except Exception as trouble:  # noqa: BLE001 (one model never costs the facts of the others)
        return error(f"{clip(place.name)} cannot be read: {type(trouble).__name__}")
