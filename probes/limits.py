"""What the process may use: CPU time, memory, shared memory, open files, temporary files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Callable, Optional, Union

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown
from envcheck.probing.cgroups import MOUNTS, Cgroups, mounts_of
from envcheck.probing.cpulist import count_cpus

if TYPE_CHECKING:
    from envcheck.probing.host import Host

MEMINFO = "/proc/meminfo"
PROCESS_LIMITS = "/proc/self/limits"
SHM = "/dev/shm"  # noqa: S108  the name of the file system, nothing is put there
NO_LIMIT = "no limit in the cgroups that can be seen"
NO_CGROUPS = "only Linux has cgroups"
IMAGE = "an image has no limits of its own"

_UNLIMITED = 1 << 62
"""Version 1 writes the highest multiple of the page size, 9223372036854771712, for no limit."""
_TEMP_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_TEMP_FOLDERS = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108  those that `tempfile` tries

Number = Union[int, float]
Reader = Callable[["Host", str], Optional[Number]]


class _Hidden(Exception):
    """A limit is there and cannot be read."""


def probe(host: Host) -> Facts:
    """Return the limits that this process meets."""
    facts = {
        "limits.memory_total_bytes": _memory_total(host),
        "limits.shm_bytes": _shm(host),
        "limits.open_files": _open_files(host),
        "limits.writable_temp": _writable_temp(host),
    }
    facts.update(_cgroup_facts(host))
    return facts


def _cgroup_facts(host: Host) -> Facts:
    keys = ("limits.cpu_quota", "limits.memory_bytes", "limits.cpuset_count")
    if host.system != "linux":
        return dict.fromkeys(keys, not_applicable(NO_CGROUPS))
    groups = Cgroups(host)
    if groups.problem:
        absent = not host.live and not host.exists("/proc/self")
        return dict.fromkeys(keys, unknown(IMAGE if absent else groups.problem))
    return {
        "limits.cpu_quota": _lowest(host, groups, "cpu", (_quota_v1, _quota_v2)),
        "limits.memory_bytes": _lowest(host, groups, "memory", (_memory_v1, _memory_v2)),
        "limits.cpuset_count": _cpuset(host, groups),
    }


def _lowest(host: Host, groups: Cgroups, controller: str, readers: tuple[Reader, Reader]) -> Fact:
    """Return the lowest limit from the process's own group up: all of them bind."""
    group = groups.group(controller)
    if group is None:
        return unknown(f"the {controller} controller is in no cgroup file system that is mounted")
    read = readers[group.version - 1]
    try:
        found = [value for value in (read(host, folder) for folder in group.folders) if value]
    except _Hidden as problem:
        return unknown(str(problem))
    if not found:
        return not_applicable(NO_LIMIT)
    return ok(min(found), f"cgroup v{group.version}")


def _text(host: Host, path: str) -> str | None:
    """Return the content of a limit file, None where the group has no such file."""
    text = host.read(path, 1 << 12)
    if text is None and host.exists(path):
        raise _Hidden(host.why_not(path))
    return None if text is None else text.strip()


def _number(text: str, path: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Hidden(f"{path} holds no number") from None


def _quota_v1(host: Host, folder: str) -> Number | None:
    quota = _text(host, f"{folder}/cpu.cfs_quota_us")
    if quota is None or _number(quota, f"{folder}/cpu.cfs_quota_us") <= 0:
        return None
    path = f"{folder}/cpu.cfs_period_us"
    return _processors(int(quota), _number(_text(host, path) or "", path), path)


def _quota_v2(host: Host, folder: str) -> Number | None:
    path = f"{folder}/cpu.max"
    text = _text(host, path)
    if text is None or text.split(" ")[0] == "max":
        return None
    quota, _, period = text.partition(" ")
    return _processors(_number(quota, path), _number(period or "100000", path), path)


def _processors(quota: int, period: int, path: str) -> Number:
    if period <= 0:
        raise _Hidden(f"{path} holds no period")
    return round(quota / period, 6)


def _memory_v1(host: Host, folder: str) -> Number | None:
    return _bytes(host, f"{folder}/memory.limit_in_bytes")


def _memory_v2(host: Host, folder: str) -> Number | None:
    return _bytes(host, f"{folder}/memory.max")


def _bytes(host: Host, path: str) -> Number | None:
    text = _text(host, path)
    if text is None or text in ("max", "-1"):
        return None
    limit = _number(text, path)
    return limit if limit < _UNLIMITED else None


def _cpuset(host: Host, groups: Cgroups) -> Fact:
    """Return the size of the nearest group's effective set, which holds those above it too."""
    group = groups.group("cpuset")
    if group is None:
        return unknown("the cpuset controller is in no cgroup file system that is mounted")
    names = ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus")
    for folder in group.folders:
        for name in names:
            try:
                text = _text(host, f"{folder}/{name}")
            except _Hidden as problem:
                return unknown(str(problem))
            if not text:
                continue
            count = count_cpus(text)
            if count is None:
                return unknown(f"{folder}/{name} holds no list of processors")
            return ok(count, f"cgroup v{group.version}")
    return not_applicable(NO_LIMIT)


def _memory_total(host: Host) -> Fact:
    if host.system != "linux":
        return _deep_memory(host)
    for line in (host.read(MEMINFO, 1 << 14) or "").splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and len(words) == 3 and words[1].isdigit():
            return ok(int(words[1]) * 1024, MEMINFO)
    image = not host.live and not host.exists(MEMINFO)
    return unknown("an image has no memory of its own" if image else host.why_not(MEMINFO))


def _deep_memory(host: Host) -> Fact:
    if not host.deep:
        return unknown("read on this system with capture --deep only")
    from envcheck.probing.other_systems import memory_total

    found = memory_total()
    return ok(found, "psutil") if found else unknown("psutil is not installed or does not say")


def _shm(host: Host) -> Fact:
    if host.system != "linux":
        return not_applicable("only Linux has /dev/shm")
    return _live_shm() if host.live else _recorded_shm(host)


def _live_shm() -> Fact:
    try:
        found = os.statvfs(SHM)
    except FileNotFoundError:
        return not_applicable(f"{SHM} does not exist")
    except OSError as problem:
        return unknown(f"{SHM}: {problem.strerror}")
    return _shm_size(found.f_frsize * found.f_blocks)


def _recorded_shm(host: Host) -> Fact:
    mounts = mounts_of(host)
    if mounts is None:
        return unknown(host.why_not(MOUNTS) if host.exists("/proc/self") else IMAGE)
    for mount in reversed(mounts):
        if mount.point == SHM:
            sizes = [option[5:] for option in mount.options if option.startswith("size=")]
            if sizes and sizes[0].endswith("k") and sizes[0][:-1].isdigit():
                return _shm_size(int(sizes[0][:-1]) * 1024)
            break
    return unknown(f"{MOUNTS} gives no size of {SHM}")


def _shm_size(size: int) -> Fact:
    return ok(size) if size else not_applicable("no limit")


def _open_files(host: Host) -> Fact:
    if host.live:
        return _live_open_files()
    for line in (host.read(PROCESS_LIMITS, 1 << 14) or "").splitlines():
        if line.startswith("Max open files"):
            soft = line[len("Max open files") :].split()[:1]
            if soft == ["unlimited"]:
                return not_applicable("no limit")
            if soft and soft[0].isdigit():
                return ok(int(soft[0]), PROCESS_LIMITS)
    return unknown(host.why_not(PROCESS_LIMITS) if host.exists("/proc/self") else IMAGE)


def _live_open_files() -> Fact:
    try:
        import resource
    except ImportError:
        return not_applicable("this system has no such limit")
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return not_applicable("no limit") if soft == resource.RLIM_INFINITY else ok(soft)


def _writable_temp(host: Host) -> Fact:
    """Return whether `tempfile` would find a folder, without making a file to try."""
    if not host.live:
        return unknown("an image does not tell how it will be mounted")
    folders: list[str] = [host.environ.get(name, "") for name in _TEMP_VARIABLES]
    folders += _TEMP_FOLDERS if os.sep == "/" else [r"C:\TEMP", r"C:\TMP"]
    return ok(
        any(
            os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
            for folder in folders
            if folder
        )
    )
