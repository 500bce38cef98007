"""Where this process stands in the control groups of Linux, and the limits it meets there.

Versions 1, 2 and the mix of both, nested, with and without a cgroup namespace. Formats:
proc(5) (`/proc/self/mountinfo`), cgroups(7). CPython 3.9, standard library.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envcheck.records import record

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["Cgroups", "Group", "Mount", "mounts_of"]

MEMBERSHIP = "/proc/self/cgroup"
MOUNTS = "/proc/self/mountinfo"
_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


@record
class Mount:
    """One line of mountinfo."""

    root: str
    point: str
    kind: str
    options: tuple[str, ...]
    """Options of the file system itself; the controllers, in version 1."""


@record
class Group:
    """The groups that bind this process under one controller."""

    version: int
    folders: tuple[str, ...]
    """The folders from the process's own group up to the highest one that can be seen."""


def mounts_of(host: Host) -> list[Mount] | None:
    """Return the mounts in the order in which they were made, or None if hidden."""
    text = host.read(MOUNTS)
    if not text:
        return None
    out = []
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        head, tail = left.split(" "), right.split(" ")
        if dash and len(head) >= 6 and len(tail) >= 3:
            options = tuple(tail[2].split(","))
            out.append(Mount(_plain(head[3]), _plain(head[4]), tail[0], options))
    return out


def _plain(text: str) -> str:
    if "\\" in text:
        for escape, char in _ESCAPES:
            text = text.replace(escape, char)
    return text


class Cgroups:
    """The control groups of the process under test."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.problem = ""
        """Why nothing is known, empty when the groups can be seen."""
        self._paths: dict[str, str] = {}
        self._mounts: list[Mount] = []
        text = host.read(MEMBERSHIP)
        mounts = mounts_of(host)
        if text is None:
            self.problem = host.why_not(MEMBERSHIP)
        elif mounts is None:
            self.problem = host.why_not(MOUNTS)
        else:
            self._mounts = [mount for mount in mounts if mount.kind in ("cgroup", "cgroup2")]
            self._paths = _memberships(text)
            if not self._paths:
                self.problem = f"{MEMBERSHIP} names no group"
            elif not self._mounts:
                self.problem = "no cgroup file system is mounted"

    def group(self, controller: str) -> Group | None:
        """Return the groups under a controller, or None when it is in no visible hierarchy."""
        if controller in self._paths:
            found = self._group(1, "cgroup", controller, self._paths[controller])
            if found is not None:
                return found
        if "" in self._paths:
            return self._group(2, "cgroup2", "", self._paths[""])
        return None

    def _group(self, version: int, kind: str, controller: str, path: str) -> Group | None:
        for mount in reversed(self._mounts):
            if mount.kind != kind or (controller and controller not in mount.options):
                continue
            if not self._host.is_dir(mount.point):
                continue
            return Group(version, tuple(self._upwards(mount, path)))
        return None

    def _upwards(self, mount: Mount, path: str) -> Iterator[str]:
        """Yield the folder of `path` below the mount, then its parents.

        Without a cgroup namespace a container sees the path of the host, of which only the part
        below the mount's root exists here; one that cannot be placed is the mount itself.
        """
        root = mount.root.rstrip("/")
        inside = path[len(root) :] if path == root or path.startswith(root + "/") else ""
        parts = [part for part in inside.split("/") if part]
        if ".." in parts or not self._host.is_dir("/".join((mount.point, *parts))):
            parts = []
        for depth in range(len(parts), -1, -1):
            yield "/".join((mount.point, *parts[:depth]))


def _memberships(text: str) -> dict[str, str]:
    """Return the path of the process's group by controller; version 2 is the empty name."""
    out: dict[str, str] = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            for controller in parts[1].split(","):
                out[controller] = parts[2]
    return out
