"""Installed distributions, read straight from their metadata folders.

About ten times cheaper than `importlib.metadata` with 500 distributions, because only the
header of METADATA is read, in one pass, and no file is looked for before it is opened.
CPython 3.9, standard library.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.probing.archives import Archive
    from envcheck.probing.host import Host

__all__ = ["Distribution", "normalise", "scan", "unlistable"]

_METADATA_LIMIT = 1 << 20
_RECORD_LIMIT = 1 << 26
_SMALL_LIMIT = 1 << 16
_CHUNK = 1 << 13
_WANTED = frozenset(("name", "version", "requires-dist", "requires-python", "provides-extra"))
_FIRST_LETTERS = " \tNVRPnvrp"
"""What a line that matters begins with; most lines of a header are classifiers."""
_ENDINGS = (".dist-info", ".egg-info")
_MODULES = (b".py,", b".so,", b".pyd,")
_ELSEWHERE = (b"..", b"/", b'"..', b'"/', b"\\")


def normalise(name: str) -> str:
    """Return the normalised project name of PEP 503."""
    out = name.lower().replace("_", "-").replace(".", "-")
    while "--" in out:
        out = out.replace("--", "-")
    return out


class Distribution:
    """One metadata folder (or egg-info file), read lazily."""

    def __init__(
        self,
        source: Host | Archive,
        folder: str,
        entry: str,
        *,
        linked: bool = False,
    ) -> None:
        self._source = source
        self.folder = folder
        """The folder on the path that holds it."""
        self.entry = entry
        """The name of its metadata folder, for example `numpy-2.4.6.dist-info`."""
        self.linked = linked
        """Whether an `.egg-link` file points at it: the editable mode of old setuptools."""
        self.truncated = False
        """Whether the header of METADATA is too large to be read in full."""
        self._header: dict[str, list[str]] | None = None
        self._raw_record: bytes | None = None
        self._own: list[bytes] | None = None

    @property
    def place(self) -> str:
        """The path of the metadata folder."""
        return f"{self.folder}/{self.entry}"

    @property
    def header(self) -> dict[str, list[str]]:
        """The wanted fields of METADATA's header by lower-case name; empty without one.

        The fields are name, version, requires-dist, requires-python and provides-extra.
        """
        if self._header is None:
            self._header = _parse_header(self._metadata().decode("utf-8", "replace"))
        return self._header

    def _metadata(self) -> bytes:
        """Return METADATA up to the first blank line, which ends the header."""
        if self.entry.endswith(".dist-info"):
            paths = [f"{self.place}/METADATA"]
        else:
            paths = [f"{self.place}/PKG-INFO", self.place]
        for path in paths:
            limit = _CHUNK
            while True:
                data = self._source.read_bytes(path, limit)
                if data is None:
                    break
                whole = len(data) < limit
                if b"\r" in data:
                    data = data.replace(b"\r\n", b"\n")
                head, blank, _ = data.partition(b"\n\n")
                if blank or whole or limit >= _METADATA_LIMIT:
                    self.truncated = not (blank or whole)
                    return head
                limit = min(limit * 8, _METADATA_LIMIT)
        return b""

    def has(self, name: str) -> bool:
        """Return whether the metadata folder holds a file of that name."""
        return self._source.exists(f"{self.place}/{name}")

    def text(self, name: str) -> str | None:
        """Return the text of one small file in the metadata folder, or None."""
        data = self._source.read_bytes(f"{self.place}/{name}", _SMALL_LIMIT)
        return None if data is None else data.decode("utf-8", "replace")

    def field(self, name: str) -> str | None:
        """Return the first value of a header field, or None."""
        values = self.header.get(name)
        return values[0] if values else None

    @property
    def name(self) -> str | None:
        """The normalised name, or None for a left-over without metadata."""
        raw = self.field("name")
        return normalise(raw) if raw else None

    @property
    def raw_record(self) -> bytes:
        """RECORD as it stands, with the files outside the package folder."""
        if self._raw_record is None:
            data = self._source.read_bytes(f"{self.place}/RECORD", _RECORD_LIMIT) or b""
            self._raw_record = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        return self._raw_record

    @property
    def own_lines(self) -> list[bytes]:
        """The lines of RECORD that name the distribution's own files, sorted.

        Left out: launcher scripts and data outside the package folder, compiled byte code and
        the metadata folder itself, all of which depend on where and how it was installed.
        """
        if self._own is None:
            data = self.raw_record
            meta = os.fsencode(self.entry) + b"/"
            skip = (*_ELSEWHERE, meta, b'"' + meta)
            lines = data.split(b"\n")
            for compiled in (b".pyc,", b'.pyc",'):
                if compiled in data:
                    lines = [line for line in lines if compiled not in line]
            self._own = sorted(line for line in lines if line and not line.startswith(skip))
        return self._own

    @property
    def record_sha256(self) -> str | None:
        """The digest of `own_lines`, the same for the same wheel wherever it is installed."""
        lines = self.own_lines
        return hashlib.sha256(b"\n".join(lines)).hexdigest() if lines else None

    @property
    def files(self) -> list[str]:
        """The paths of the distribution's own files, relative to `folder`."""
        return [_path_of(line) for line in self.own_lines]

    @property
    def import_names(self) -> list[str]:
        """The top-level names that it provides, sorted: from RECORD, else from top_level.txt."""
        names = sorted(set(_top_levels(self.own_lines)))
        if names:
            return names
        declared = (self.text("top_level.txt") or "").split()
        return sorted({name for name in declared if name.isidentifier()})

    def direct_url(self) -> Any:
        """Return the parsed direct_url.json (PEP 610), or None."""
        text = self.text("direct_url.json")
        if text is None:
            return None
        import json

        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def _path_of(line: bytes) -> str:
    """Return the path in a line of RECORD."""
    path = line.rsplit(b",", 2)[0]
    if path.startswith(b'"'):
        path = path[1:].rstrip(b'"').replace(b'""', b'"')
    return path.decode("utf-8", "replace")


def _top_levels(lines: list[bytes]) -> Iterator[str]:
    """Yield the import names in sorted lines of RECORD, visiting each folder once."""
    position = 0
    while position < len(lines):
        line = lines[position]
        top, slash, _ = line.partition(b"/")
        start = position
        position = bisect_left(lines, top + b"0", position) if slash else position + 1
        if not slash:
            if not any(ending in line for ending in _MODULES):
                continue
            top = top.split(b".", 1)[0]
        name = top.decode("utf-8", "replace").lstrip('"')
        if not name.isidentifier() or name.startswith(("__editable__", "__pycache__")):
            continue
        if not slash or _holds_module(lines, start, position):
            yield name


def _holds_module(lines: list[bytes], start: int, stop: int) -> bool:
    for index in range(start, stop):
        line = lines[index]
        if b".py," in line or b".so" in line or b".pyd," in line or b'.py",' in line:
            return True
    return False


def _parse_header(head: str) -> dict[str, list[str]]:
    """Return the wanted fields of a header; continuation lines belong to the field above."""
    out: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in head.split("\n"):
        first = line[:1]
        if first not in _FIRST_LETTERS:
            last = None
        elif first in " \t":
            if last and line:
                last[-1] += " " + line.strip()
        else:
            key, colon, value = line.partition(":")
            key = key.lower()
            last = None
            if colon and key in _WANTED:
                last = out.setdefault(key, [])
                last.append(value.strip())
    return out


def scan(host: Host, path: Sequence[str]) -> list[Distribution]:
    """Return every distribution on the path, in path order and sorted within a folder.

    A folder that is on the path twice, for instance through a link, counts once.
    """
    out: list[Distribution] = []
    links: list[str] = []
    seen: set[tuple[int, int]] = set()
    for folder in path:
        identity = _identity(host, folder)
        if identity is None or identity in seen:
            continue
        seen.add(identity)
        names = host.listdir(folder)
        if names is None:
            out += _in_archive(host, folder)
            continue
        for name in names:
            if name.endswith(_ENDINGS):
                out.append(Distribution(host, folder, name))
            elif name.endswith(".egg-link"):
                links.append(f"{folder}/{name}")
        if folder.endswith(".egg") and "EGG-INFO" in names:
            out.append(Distribution(host, folder, "EGG-INFO"))
    for link in links:
        _follow(host, link, out)
    return out


def unlistable(host: Host, path: Sequence[str]) -> list[str]:
    """Return why folders of the path hide what they hold; those that do not exist hide nothing."""
    out = []
    for folder in path:
        if host.listdir(folder) is not None:
            continue
        why = host.why_not(folder)
        if host.is_dir(folder) or why.endswith(("is not readable", "cannot be read")):
            out.append(why)
    return out


def _identity(host: Host, folder: str) -> tuple[int, int] | None:
    """Return device and inode, which tell whether two paths are one folder."""
    try:
        found = os.stat(host.path(folder))
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino or hash(folder)


def _in_archive(host: Host, path: str) -> list[Distribution]:
    """Return the distributions inside a zip file on the path, if it is one."""
    if host.is_dir(path):
        return []
    from envcheck.probing.archives import Archive

    archive = Archive.open(host, path)
    if archive is None:
        return []
    return [Distribution(archive, path, name) for name in archive.metadata_folders()]


def _follow(host: Host, link: str, out: list[Distribution]) -> None:
    """Mark, or add, the distribution that an `.egg-link` file points at."""
    lines = (host.read(link, _SMALL_LIMIT) or "").splitlines()
    target = lines[0].strip().rstrip("/") if lines else ""
    if not target.startswith("/") and target[1:3] not in (":\\", ":/"):
        return
    stem = link.rpartition("/")[2][: -len(".egg-link")]
    for dist in out:
        if dist.folder == target and dist.entry.endswith(".egg-info"):
            dist.linked = True
            return
    out.extend(
        Distribution(host, target, name, linked=True)
        for name in host.listdir(target) or ()
        if name.endswith(".egg-info") and normalise(name[:-9]) == normalise(stem)
    )
