"""Installed distributions, as their metadata folders tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from envcheck.facts import Facts, ok, unknown
from envcheck.probing.distributions import unlistable
from envcheck.probing.redaction import strip_url

if TYPE_CHECKING:
    from envcheck.probing.distributions import Distribution
    from envcheck.probing.host import Host

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?", re.IGNORECASE | re.ASCII)
"""A project name as PEP 508 has it; anything else never becomes a key."""
_MOST_LINES = 5_000
_MOST_NAMELESS = 100
_MOST_CHARACTERS = 1_000
_MOST_OF_A_NAME = 200


def probe(host: Host) -> Facts:
    """Return one fact per distribution, and how complete the list is."""
    path = host.interpreter.path
    if not path:
        return {"python.packages": unknown(host.interpreter.problem or "no import path is known")}
    groups: dict[str, list[Distribution]] = {}
    nameless: list[str] = []
    for dist in host.distributions:
        raw = dist.field("name")
        if raw is None or dist.entry.startswith("~") or not _NAME.fullmatch(raw):
            nameless.append(_printable(dist.entry)[:_MOST_OF_A_NAME])
        else:
            groups.setdefault(dist.name or "", []).append(dist)
    hidden = unlistable(host, path)
    if hidden and not groups:
        return {"python.packages": unknown("; ".join(sorted(hidden)))}
    facts: Facts = {f"package.{name}": ok(_describe(groups[name])) for name in sorted(groups)}
    facts["python.packages"] = ok(
        {
            "complete": not hidden,
            "count": len(groups),
            "kind": "installed",
            "nameless": sorted(nameless)[:_MOST_NAMELESS],
        }
    )
    return facts


def _describe(group: list[Distribution]) -> dict[str, Any]:
    """Return the facts of one name; the first folder on the path is the one that is imported."""
    folder = group[0].folder
    here = [dist for dist in group if dist.folder == folder]
    first = min(here, key=lambda dist: (not dist.entry.endswith(".dist-info"), dist.entry))
    value = _describe_one(first)
    duplicates = sorted(_version(dist) for dist in here if dist is not first)
    if duplicates:
        value["duplicates"] = duplicates
    editable = value.get("editable", False)
    shadowed = [
        _version(dist)
        for dist in group
        if dist.folder != folder and not (editable and _is_source_tree(dist, first))
    ]
    if shadowed:
        value["shadowed"] = shadowed
    return value


def _version(dist: Distribution) -> str:
    return _plain(dist.field("version")) or "unknown"


def _is_source_tree(dist: Distribution, installed: Distribution) -> bool:
    """Return whether `dist` is only the build metadata in the project of an editable install."""
    return (
        dist.entry.endswith(".egg-info")
        and dist.field("version") == installed.field("version")
        and not dist.folder.endswith(("site-packages", "dist-packages"))
    )


def _describe_one(dist: Distribution) -> dict[str, Any]:
    origin = _origin(dist)
    editable = dist.linked or bool(origin.get("editable"))
    value: dict[str, Any] = {
        "version": _plain(dist.field("version")),
        "tag": _tag(dist),
        "requires_python": _plain(dist.field("requires-python")),
        "installer": _first_line(dist.installer),
        "imports": dist.import_names,
        "record_sha256": None if editable else dist.record_sha256,
        **origin,
    }
    if dist.linked:
        value["editable"] = True
    if not dist.truncated:
        value["requires"] = _lines(dist.header.get("requires-dist", []))
        value["extras"] = _lines(dist.header.get("provides-extra", [])) or None
    if not value["imports"] and dist.record.is_empty:
        del value["imports"]
    return {key: item for key, item in value.items() if item is not None}


def _tag(dist: Distribution) -> str | None:
    text = dist.text("WHEEL")
    if text is None:
        return None
    tags = {line[4:].strip() for line in text.splitlines() if line[:4].lower() == "tag:"}
    return _plain(",".join(sorted(tags)))


def _first_line(text: str | None) -> str | None:
    return _plain(text.strip().partition("\n")[0]) if text else None


def _lines(values: list[str]) -> list[str] | None:
    """Return sorted lines, or None where there are too many to be anything but a mistake."""
    if len(values) > _MOST_LINES:
        return None
    joined = " ".join(values)
    if "://" in joined:
        values = [_without_credentials(value) for value in values]
    if joined.isprintable() and max(map(len, values), default=0) <= _MOST_CHARACTERS:
        return sorted(set(values))
    lines = {_plain(value) for value in values}
    return None if None in lines else sorted(line for line in lines if line)


def _without_credentials(line: str) -> str:
    """Return `name @ address; marker` with the address as `origin_url` would have it."""
    name, at, rest = line.partition("@")
    if not at or "://" not in rest:
        return line
    address, semicolon, marker = rest.strip().partition(" ;")
    return f"{name.strip()} @ {strip_url(address.strip())}{semicolon}{marker}"


def _plain(text: str | None) -> str | None:
    """Return a value in one readable line, or None where there is none or it is far too long."""
    text = text.strip() if text else ""
    if not text or len(text) > _MOST_CHARACTERS:
        return None
    return _printable(text)


def _printable(text: str) -> str:
    """Return `text` with control, bidirectional and other invisible characters spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\\" + f"u{ord(char):04x}" for char in text)


def _origin(dist: Distribution) -> dict[str, Any]:
    """Return what direct_url.json (PEP 610) tells, without credentials and local paths."""
    data = dist.direct_url()
    if not isinstance(data, dict):
        return {}
    url = data.get("url")
    out: dict[str, Any] = {}
    if isinstance(url, str):
        out["origin_url"] = _plain(strip_url(url))
    archive, vcs, folder = (data.get(f"{kind}_info") for kind in ("archive", "vcs", "dir"))
    if isinstance(vcs, dict):
        out["origin"] = "vcs"
        out["origin_revision"] = _string(vcs.get("commit_id"))
    elif isinstance(archive, dict):
        out["origin"] = "archive"
        out["origin_revision"] = _archive_hash(archive)
    elif isinstance(folder, dict):
        out["origin"] = "directory"
        if folder.get("editable") is True:
            out["editable"] = True
    return out


def _archive_hash(archive: dict[str, Any]) -> str | None:
    hashes = archive.get("hashes")
    if isinstance(hashes, dict) and isinstance(hashes.get("sha256"), str):
        return _plain(f"sha256={hashes['sha256']}")
    return _string(archive.get("hash"))


def _string(value: Any) -> str | None:
    return _plain(value) if isinstance(value, str) else None
