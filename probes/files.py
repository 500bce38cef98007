"""Size and digest of the extra files that the user declares with `--file`."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from envcheck.facts import Fact, Facts, error, ok

if TYPE_CHECKING:
    from envcheck.probing.host import Host

_CHUNK = 1 << 20


def probe(host: Host) -> Facts:
    """Return one fact for each declared file, by its base name."""
    return {
        f"file.{label}": _read(host, path) for label, path in sorted(_labelled(host.files).items())
    }


def _labelled(paths: tuple[str, ...]) -> dict[str, str]:
    """Return the paths by a name that is short, tells them apart and shows no foreign folder.

    The base name where it is unique; else the relative path as it was given; else, for absolute
    paths, a number in the order of the command line.
    """
    given = list(dict.fromkeys(os.path.normpath(path) for path in paths))
    names = [_name(path) for path in given]
    out: dict[str, str] = {}
    for path, name in zip(given, names):
        label = name
        if names.count(name) > 1:
            label = _relative(path) or name
        unique, number = label, 2
        while unique in out:
            unique, number = f"{label}#{number}", number + 1
        out[unique] = path
    return out


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/") if os.sep == "\\" else path.split("/")


def _name(path: str) -> str:
    return _printable(_parts(path)[-1])


def _relative(path: str) -> str | None:
    parts = _parts(path)
    inside = not os.path.isabs(path) and ".." not in parts
    return _printable("/".join(parts)) if inside else None


def _printable(name: str) -> str:
    """Return a file name as text that any file can hold."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _read(host: Host, path: str) -> Fact:
    place = path if host.live else "/" + path.lstrip("/")
    digest = hashlib.sha256()
    size = 0
    try:
        with host.open_binary(place) as file:
            while True:
                data = file.read(_CHUNK)
                if not data:
                    break
                digest.update(data)
                size += len(data)
    except FileNotFoundError:
        return error("does not exist")
    except PermissionError:
        return error("is not readable")
    except IsADirectoryError:
        return error("is a folder, not a file")
    except OSError as problem:
        return error(problem.strerror or "cannot be read")
    return ok({"bytes": size, "sha256": digest.hexdigest()})
