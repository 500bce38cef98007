"""The whole capture in hostile surroundings: unknown states, never wrong values, no trace left.

Each test starts a real process. Where namespaces or root are not to be had the test is skipped
with the reason, except that root under CI must be able to run them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
FOLLOWS_HOME = {"framework.keras_backend", "framework.keras_config", "python.user_site"}
"""Facts that are about the user's home folder."""

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import envcheck
if sys.argv[1] not in envcheck.__path__ and not hasattr(envcheck, "probes"):
    envcheck.__path__.append(sys.argv[1])
import importlib, json, os

STARTS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty",
          "os.spawn", "pty.spawn", "os.startfile")
WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod",
          "os.chown", "os.truncate", "os.utime", "os.setxattr", "shutil.copyfile", "shutil.move",
          "tempfile.mkstemp", "tempfile.mkdtemp", "socket.connect", "socket.bind")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
seen = []

def hook(event, args):
    if event in STARTS or event in WRITES:
        seen.append(f"{event} {args!r}")
    elif event == "open":
        flags = args[2] if isinstance(args[2], int) else 0
        if flags & WRITING or (isinstance(args[1], str) and set(args[1]) & set("wax+")):
            seen.append(f"open {args!r}")

from envcheck.probing.host import Host
from envcheck.probing.run import builtin_probes, run_probes
if sys.argv[2] == "nobody":
    # Import first: the folder of the interpreter itself may be closed to others.
    for name in builtin_probes():
        importlib.import_module(f"envcheck.probes.{name}")
    run_probes(Host())
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
before = set(sys.modules)
sys.addaudithook(hook)
facts = run_probes(Host())
sys.stdout.write(json.dumps({
    "facts": {key: fact.to_json() for key, fact in facts.items()},
    "seen": seen,
    "modules": sorted(sys.modules),
}))
"""
COMMAND = """
import sys
sys.path.insert(0, sys.argv[1])
import envcheck
if sys.argv[1] not in envcheck.__path__ and not hasattr(envcheck, "probes"):
    envcheck.__path__.append(sys.argv[1])
from envcheck.cli import main
sys.exit(main(["capture", "-q"]))
"""
FRAMEWORKS = {
    "cpuinfo", "jax", "keras", "numpy", "onnx", "onnxruntime", "packaging", "pandas", "pip_api",
    "platform", "psutil", "pydantic", "pynvml", "rdflib", "rich", "scipy", "sklearn",
    "subprocess", "tensorflow", "torch",
}  # fmt: skip


def run(
    tmp_path: Path,
    code: str = CHILD,
    *,
    user: str = "same",
    before: tuple[str, ...] = (),
    unset: tuple[str, ...] = (),
    **environ: str,
) -> subprocess.CompletedProcess[str]:
    """Run a capture in a process of its own, behind the commands of `before`."""
    variables = {name: text for name, text in os.environ.items() if name not in unset} | environ
    return subprocess.run(
        [*before, sys.executable, "-B", "-P", "-c", code, str(ROOT), user],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=variables,
        timeout=120,
    )


def facts_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the facts of a clean run: no word on stderr, nothing started, nothing written."""
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert answer["seen"] == []
    facts: dict[str, Any] = answer["facts"]
    assert [key for key, fact in facts.items() if "failed:" in fact.get("reason", "")] == []
    return facts


def changed(usual: dict[str, Any], facts: dict[str, Any]) -> set[str]:
    """Return the keys whose fact differs, after checking that none has another known value.

    What says of itself that it may be incomplete (the markers of a container that were seen, the
    list of packages with `complete` false) may be a part of the usual value.
    """
    assert set(facts) == set(usual)
    found = {key for key in usual if _known(facts[key]) != _known(usual[key])}
    wrong = {
        key: (usual[key], facts[key])
        for key in found - FOLLOWS_HOME
        if facts[key]["state"] != "unknown" and not _is_part(facts[key], usual[key])
    }
    assert wrong == {}
    return found


def _known(fact: dict[str, Any]) -> dict[str, Any]:
    """Return a fact without where it was read: another place may say the same."""
    return {name: part for name, part in fact.items() if name != "source"}


def _is_part(fact: dict[str, Any], usual: dict[str, Any]) -> bool:
    """Return whether a value says that it is a part, and is one."""
    ours, theirs = fact.get("value"), usual.get("value")
    if isinstance(ours, list) and isinstance(theirs, list):
        return all(str(marker).startswith(("/", "cgroup:")) and marker in theirs for marker in ours)
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.get("complete") is False:
        return bool(ours["count"] <= theirs["count"])
    return False


@pytest.fixture
def usual(tmp_path: Path) -> dict[str, Any]:
    """Return the facts in the surroundings of this test run."""
    return facts_of(run(tmp_path))


@cache
def _namespace_problem() -> str:
    """Return why no mount namespace can be made here, or nothing."""
    if shutil.which("unshare") is None:
        return "no unshare command"
    done = subprocess.run(
        [*_unshare(), "sh", "-c", "mount -t tmpfs none /proc"], capture_output=True, text=True
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def _unshare() -> tuple[str, ...]:
    root = os.geteuid() == 0
    return ("unshare", "--mount") if root else ("unshare", "--user", "--map-root-user", "--mount")


def inside(commands: str) -> tuple[str, ...]:
    """Return the words that run a command in a mount namespace, after some shell commands."""
    problem = _namespace_problem()
    if problem:
        if os.environ.get("CI") and os.geteuid() == 0:
            pytest.fail(f"root under CI cannot make a mount namespace: {problem}")
        pytest.skip(f"no mount namespace: {problem}")
    return (*_unshare(), "sh", "-e", "-c", f'{commands}\nexec "$@"', "sh")


def require_root() -> None:
    """Skip where another user's identity cannot be taken on."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")


MASK_PROC = "mount -t tmpfs -o ro tmpfs /proc"
READ_ONLY = """
for place in / /tmp /var/tmp /usr/tmp "$PWD" "$HOME" "$TMPDIR"; do
    if mountpoint -q "$place" 2>/dev/null; then mount -o remount,bind,ro "$place"; fi
done
! touch "$PWD/probe-of-the-test" 2>/dev/null
"""


def test_a_capture_leaves_no_trace(tmp_path: Path) -> None:
    """No process, no connection, no file; home, current and temporary folder stay empty."""
    folders = {name: tmp_path / name for name in ("home", "cwd", "tmp")}
    for folder in folders.values():
        folder.mkdir()

    done = run(folders["cwd"], HOME=str(folders["home"]), TMPDIR=str(folders["tmp"]))

    facts_of(done)
    assert [path for folder in folders.values() for path in folder.iterdir()] == []


def test_a_capture_imports_no_framework(tmp_path: Path) -> None:
    """No framework is imported, nor any standard module that is dear and not needed."""
    done = run(tmp_path)

    assert FRAMEWORKS.intersection(json.loads(done.stdout)["modules"]) == set()


def test_the_watch_sees_what_it_is_for(tmp_path: Path) -> None:
    """The test's own hook reports a started program and a written file."""
    planted = (
        "facts = run_probes(Host()); open('x', 'w').close(); os.open('y', os.O_CREAT | os.O_RDWR);"
        " os.posix_spawn('/bin/true', ['true'], {})"
    )

    done = run(tmp_path, CHILD.replace("facts = run_probes(Host())\n", f"{planted}\n"))

    assert [line.split()[0] for line in json.loads(done.stdout)["seen"]] == [
        "open", "open", "os.posix_spawn",
    ]  # fmt: skip


def test_without_home(tmp_path: Path, usual: dict[str, Any]) -> None:
    """Without HOME everything but what lies in the home folder is the same."""
    facts = facts_of(run(tmp_path, unset=("HOME", "USERPROFILE")))

    assert changed(usual, facts) <= FOLLOWS_HOME


@pytest.mark.parametrize("path", [None, "", "/nonexistent"])
def test_without_path(tmp_path: Path, usual: dict[str, Any], path: str | None) -> None:
    """No tool on PATH is needed."""
    shell = shutil.which("env")
    assert shell is not None
    words = ("-u", "PATH") if path is None else (f"PATH={path}",)

    facts = facts_of(run(tmp_path, before=(shell, *words)))

    assert changed(usual, facts) == set()


def test_without_any_variable(tmp_path: Path) -> None:
    """An empty environment is enough; variables are then known to be unset."""
    done = run(tmp_path, unset=tuple(os.environ))
    facts = facts_of(done)

    for name in ("OMP_NUM_THREADS", "LD_LIBRARY_PATH", "KERAS_BACKEND"):
        assert facts[f"env.{name}"] == {"state": "not_applicable", "reason": "not set"}


def test_as_nobody(tmp_path: Path, usual: dict[str, Any]) -> None:
    """An unprivileged user gets the same facts; what is closed to it is unknown."""
    require_root()
    facts = facts_of(run(tmp_path, user="nobody"))

    changed(usual, facts)
    for key in ("cpu.features", "os.libc_version", "python.version", "limits.memory_total_bytes"):
        assert facts[key] == usual[key]


def test_with_proc_masked(tmp_path: Path, usual: dict[str, Any]) -> None:
    """What only /proc tells is unknown, with the reason; all else is as usual."""
    facts = facts_of(run(tmp_path, before=inside(MASK_PROC)))

    lost = changed(usual, facts)
    expected = {"cpu.features", "cpu.model", "limits.cpu_quota", "limits.memory_bytes",
                "limits.memory_total_bytes", "limits.cpuset_count"}  # fmt: skip
    assert {key for key in expected if facts[key]["state"] != "unknown"} == set()
    assert all("/proc/" in facts[key]["reason"] for key in expected)
    assert expected >= {key for key in lost if key.startswith(("cpu.", "limits."))} - {"cpu.level"}
    for key in ("os.libc_family", "os.libc_version", "os.kernel_release", "cpu.architecture"):
        assert facts[key] == usual[key]


def test_with_sys_masked(tmp_path: Path, usual: dict[str, Any]) -> None:
    """Limits of control groups are unknown when their file system is hidden, not absent."""
    facts = facts_of(run(tmp_path, before=inside("mount -t tmpfs -o ro tmpfs /sys")))

    changed(usual, facts)
    for key in ("limits.cpu_quota", "limits.memory_bytes", "limits.cpuset_count"):
        assert facts[key]["state"] == "unknown"


def test_on_a_read_only_root(tmp_path: Path, usual: dict[str, Any]) -> None:
    """Nothing needs to be written: all facts but that on temporary files are the same."""
    facts = facts_of(run(tmp_path, before=inside(READ_ONLY), TMPDIR=str(tmp_path)))

    assert facts["limits.writable_temp"] == {"state": "ok", "value": False}
    facts["limits.writable_temp"] = usual["limits.writable_temp"]
    assert changed(usual, facts) == set()


def test_all_of_it_at_once(tmp_path: Path, usual: dict[str, Any]) -> None:
    """Nobody, on a read-only root, with /proc masked, no HOME and no PATH."""
    require_root()
    shell = shutil.which("env")
    before = (*inside(f"{READ_ONLY}\n{MASK_PROC}"), str(shell), "-u", "HOME", "PATH=")

    facts = facts_of(run(tmp_path, user="nobody", before=before))

    facts["limits.writable_temp"] = usual["limits.writable_temp"]
    changed(usual, facts)
    assert facts["python.version"] == usual["python.version"]
    assert facts["limits.memory_bytes"]["state"] == "unknown"


@pytest.mark.parametrize("surroundings", ["usual", "hostile"])
def test_the_command(tmp_path: Path, surroundings: str) -> None:
    """`envcheck capture` writes one fingerprint to stdout and no file, and ends with 0."""
    before: tuple[str, ...] = ()
    if surroundings == "hostile":
        shell = shutil.which("env")
        before = (*inside(f"{READ_ONLY}\n{MASK_PROC}"), str(shell), "-u", "HOME", "PATH=")

    done = run(tmp_path, COMMAND, before=before)

    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads(done.stdout)
    assert written["schema"] == "envcheck.fingerprint/1"
    assert written["facts"]["python.version"]["state"] == "ok"
    assert list(tmp_path.iterdir()) == []
