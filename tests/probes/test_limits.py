"""What the limits probe says about recorded control groups and this machine."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from envcheck.probes import limits

from envcheck.facts import Fact, not_applicable, ok, unknown
from envcheck.probing.host import Host

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = Path(__file__).resolve().parents[1] / "hosts"
FREE = not_applicable("no limit in the cgroups that can be seen")
V1, V2 = "cgroup v1", "cgroup v2"
GIB = 1 << 30


@pytest.mark.parametrize(
    ("host", "quota", "memory", "cpuset"),
    [
        # version 2 in a namespace: 150000 of 100000 µs, 2 GiB, processors 0-3,8
        ("kubernetes-v2", ok(1.5, V2), ok(2 * GIB, V2), ok(5, V2)),
        # version 1 without a namespace: the container sees its own group as the root
        ("docker-v1", ok(0.5, V1), ok(512 << 20, V1), ok(40, V1)),
        # version 1, nested: 3 below 2 below 4 processors; 1 GiB above an unlimited step
        ("batch-v1-nested", ok(2.0, V1), ok(GIB, V1), ok(2, V1)),
        # version 1 beside an empty version 2: -1 and 9223372036854771712 are no limits
        ("hybrid-unlimited", FREE, FREE, ok(2, V1)),
        # version 2 without a namespace: the slice's 8 GiB bind the scope; no CPU controller
        ("desktop-v2-nested", FREE, ok(8 * GIB, V2), ok(8, V2)),
    ],
)
def test_cgroups(
    recorded: Callable[..., Host], host: str, quota: Fact, memory: Fact, cpuset: Fact
) -> None:
    """The lowest limit from the process's group up to the mount binds."""
    facts = limits.probe(recorded(host))

    assert facts["limits.cpu_quota"] == quota
    assert facts["limits.memory_bytes"] == memory
    assert facts["limits.cpuset_count"] == cpuset


@pytest.mark.parametrize(
    ("host", "total", "shm", "files"),
    [
        ("kubernetes-v2", 65843124 * 1024, 64 << 20, 1048576),
        ("docker-v1", 131921012 * 1024, GIB, 1024),
    ],
)
def test_host_limits(
    recorded: Callable[..., Host], host: str, total: int, shm: int, files: int
) -> None:
    """Memory of the host, /dev/shm and open files come from the kernel's files."""
    facts = limits.probe(recorded(host))

    assert facts["limits.memory_total_bytes"] == ok(total, "/proc/meminfo")
    assert facts["limits.shm_bytes"] == ok(shm)
    assert facts["limits.open_files"] == ok(files, "/proc/self/limits")


@pytest.mark.parametrize(
    ("path", "text", "key", "expected"),
    [
        ("sys/fs/cgroup/cpu.max", "max 100000\n", "limits.cpu_quota", FREE),
        ("sys/fs/cgroup/cpu.max", "50000\n", "limits.cpu_quota", ok(0.5, V2)),
        ("sys/fs/cgroup/memory.max", "max\n", "limits.memory_bytes", FREE),
        ("sys/fs/cgroup/cpu.max", "1 0\n", "limits.cpu_quota",
         unknown("/sys/fs/cgroup/cpu.max holds no period")),
        ("sys/fs/cgroup/memory.max", "much\n", "limits.memory_bytes",
         unknown("/sys/fs/cgroup/memory.max holds no number")),
        ("sys/fs/cgroup/cpuset.cpus.effective", "3-1\n", "limits.cpuset_count",
         unknown("/sys/fs/cgroup/cpuset.cpus.effective holds no list of processors")),
        ("proc/self/limits", "Max open files unlimited unlimited files\n", "limits.open_files",
         not_applicable("no limit")),
        ("proc/self/cgroup", "", "limits.cpu_quota", unknown("/proc/self/cgroup names no group")),
        ("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n", "limits.cpu_quota",
         unknown("no cgroup file system is mounted")),
        ("proc/self/cgroup", "0::/../../kubepods/x\n", "limits.cpu_quota", ok(1.5, V2)),
        ("proc/self/cgroup", "0::/gone/elsewhere\n", "limits.cpu_quota", ok(1.5, V2)),
    ],
)  # fmt: skip
def test_one_file_changed(tmp_path: Path, path: str, text: str, key: str, expected: Fact) -> None:
    """`max` is no limit, nonsense is unknown, a group that cannot be placed is the mount's."""
    shutil.copytree(HOSTS / "kubernetes-v2", tmp_path / "host", symlinks=True)
    (tmp_path / "host" / path).write_text(text, "utf-8")

    assert limits.probe(Host(str(tmp_path / "host")))[key] == expected


@pytest.mark.parametrize("path", ["proc/self/cgroup", "proc/self/mountinfo"])
def test_hidden_membership_is_unknown(tmp_path: Path, path: str) -> None:
    """Without the files that say which group we are in, no limit is claimed or denied."""
    shutil.copytree(HOSTS / "kubernetes-v2", tmp_path / "host", symlinks=True)
    (tmp_path / "host" / path).unlink()

    facts = limits.probe(Host(str(tmp_path / "host")))

    for key in ("limits.cpu_quota", "limits.memory_bytes", "limits.cpuset_count"):
        assert facts[key] == unknown(f"/{path} does not exist")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_an_unreadable_limit_is_unknown(tmp_path: Path) -> None:
    """A limit that is there and cannot be read is not the same as no limit."""
    shutil.copytree(HOSTS / "kubernetes-v2", tmp_path / "host", symlinks=True)
    (tmp_path / "host/sys/fs/cgroup/memory.max").chmod(0)

    found = limits.probe(Host(str(tmp_path / "host")))["limits.memory_bytes"]

    assert found == unknown("/sys/fs/cgroup/memory.max is not readable")


def test_a_limit_file_that_is_no_file_is_unknown(tmp_path: Path) -> None:
    """The same for a folder in the place of a limit, which no reader can take for a number."""
    shutil.copytree(HOSTS / "kubernetes-v2", tmp_path / "host", symlinks=True)
    (tmp_path / "host/sys/fs/cgroup/memory.max").unlink()
    (tmp_path / "host/sys/fs/cgroup/memory.max").mkdir()

    found = limits.probe(Host(str(tmp_path / "host")))["limits.memory_bytes"]

    assert found == unknown("/sys/fs/cgroup/memory.max is a folder")


def test_damaged_files_are_unknown(recorded: Callable[..., Host]) -> None:
    """Files without sense give no value at all."""
    assert not any(fact.is_ok for fact in limits.probe(recorded("damaged")).values())


def test_an_image_has_no_limits(empty: Host) -> None:
    """Nothing is said about limits of an image."""
    assert {fact.state for fact in limits.probe(empty).values()} == {"unknown"}


@pytest.mark.skipif(platform.system() != "Linux", reason="reads Linux")
def test_this_machine() -> None:
    """On this machine the numbers are those of psutil, `resource` and the file system."""
    psutil = pytest.importorskip("psutil")
    import resource

    facts = limits.probe(Host())
    shm = os.statvfs("/dev/shm")

    assert facts["limits.memory_total_bytes"].value == psutil.virtual_memory().total
    assert facts["limits.open_files"] == ok(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    assert facts["limits.shm_bytes"] == ok(shm.f_frsize * shm.f_blocks)
    assert facts["limits.writable_temp"] == ok(True)


@pytest.mark.skipif(os.sep != "/", reason="POSIX folders")
def test_writable_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TMPDIR counts when it is a folder; without any writable folder the answer is no."""
    monkeypatch.setattr(limits, "_TEMP_FOLDERS", (str(tmp_path / "none"),))
    (tmp_path / "file").touch()

    def answer(folder: Path) -> Fact:
        facts = limits.probe(Host(environ={"TMPDIR": str(folder)}, live=True))
        found: Fact = facts["limits.writable_temp"]
        return found

    assert answer(tmp_path) == ok(True)
    assert answer(tmp_path / "file") == ok(False)
    assert answer(tmp_path / "absent") == ok(False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
