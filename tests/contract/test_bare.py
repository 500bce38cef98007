"""Everything imports, and a capture runs, with no installed package in sight."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.contract.sources import adapted, product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Interpreters

OLD_TARGETS = (
    "envcheck.artefacts", "envcheck.capturing", "envcheck.catalogue", "envcheck.embedding",
    "envcheck.errors", "envcheck.facts", "envcheck.fingerprint", "envcheck.probes",
    "envcheck.probing", "envcheck.startup",
)  # fmt: skip
FRAMEWORKS = {
    "keras", "numpy", "onnx", "onnxruntime", "pandas", "scipy", "sklearn", "tensorflow", "torch",
}  # fmt: skip
COSTLY = FRAMEWORKS | {
    "asyncio", "cpuinfo", "importlib.metadata", "multiprocessing", "pip", "pip_api", "psutil",
    "pydantic", "pynvml", "pyoxigraph", "rdflib", "rich", "sqlite3", "ssl", "subprocess",
    "urllib.request", "xml",
}  # fmt: skip

PREAMBLE = """
import sys
sys.path.insert(0, {root!r})
import envcheck
envcheck.__path__.append({root!r})
"""
IMPORT_ALL = """
import importlib, json
failed = {{}}
for name in {names!r}:
    try:
        importlib.import_module(name)
    except BaseException as problem:
        failed[name] = repr(problem)
print(json.dumps(failed))
"""
WATCH = """
import json, os, sys
EVENTS = ("subprocess.", "os.posix_spawn", "os.fork", "os.exec", "os.system", "os.spawn",
          "pty.spawn", "socket.connect", "socket.getaddrinfo", "socket.bind")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
seen = []
def hook(event, args):
    if event.startswith(EVENTS):
        seen.append(event + " " + repr(args)[:200])
    elif event == "open" and isinstance(args[2], int) and args[2] & WRITING:
        seen.append("writes " + str(args[0]))
    elif event in ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink"):
        seen.append(event + " " + repr(args)[:200])
sys.addaudithook(hook)
"""
RUN = """
from envcheck.cli import main
code = main({arguments!r})
print(json.dumps({{"code": code, "seen": seen, "modules": sorted(sys.modules)}}), file=sys.stderr)
"""


@dataclass(frozen=True)
class Watched:
    """What a command did: its exit code, the acts an audit hook saw, the modules it loaded."""

    code: int
    seen: tuple[str, ...]
    modules: frozenset[str]

    @property
    def writes(self) -> list[str]:
        """The acts that write, make, move or delete."""
        return [line for line in self.seen if line.startswith(WRITES)]

    @property
    def others(self) -> list[str]:
        """The acts that start a process or a connection."""
        return [line for line in self.seen if not line.startswith(WRITES)]


WRITES = ("writes ", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink")


def test_every_module_imports_without_any_package(root: Path) -> None:
    """Every module imports under an interpreter that sees the standard library alone."""
    names = [
        source.module
        for source in product()
        if source.module != "envcheck.__main__" and adapted(source.module) is None
    ]

    assert _import_all(sys.executable, root, names) == {}


@pytest.mark.parametrize("minor", ["3.9", "3.10", "3.12", "3.13"])
def test_what_runs_in_a_target_imports_there(
    minor: str, root: Path, interpreters: Interpreters
) -> None:
    """The capture path imports on every CPython that it may meet."""
    names = [
        source.module
        for source in product()
        if any(
            source.module == name or source.module.startswith(f"{name}.") for name in OLD_TARGETS
        )
    ]

    assert len(names) >= len(OLD_TARGETS)
    assert _import_all(str(interpreters[minor]), root, names) == {}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the watched capture writes."""
    return tmp_path_factory.mktemp("watched") / "here.json"


@pytest.fixture(scope="module")
def capture(root: Path, output: Path) -> Watched:
    """Capture this machine under an audit hook, with everything that is installed in reach."""
    watched = _watch(root, ["capture", "-o", str(output)])

    assert watched.code == 0
    assert json.loads(output.read_text("utf-8"))["facts"]
    return watched


def test_capture_starts_no_process_and_no_connection(capture: Watched) -> None:
    """A capture forks, executes and connects to nothing."""
    assert capture.others == []


def test_capture_writes_its_output_and_nothing_else(capture: Watched, output: Path) -> None:
    """Every file that a capture opens for writing, makes or moves is its own output."""
    assert capture.writes
    assert [line for line in capture.writes if str(output.parent) not in line] == []


def test_capture_loads_nothing_costly(capture: Watched) -> None:
    """No framework, no dependency and no costly part of the standard library is loaded."""
    assert "envcheck.cli" in capture.modules
    assert capture.modules & (COSTLY | {"packaging"}) == set()


def test_compare_only_reads(root: Path, capture: Watched, output: Path) -> None:
    """A comparison of two files starts, writes and loads nothing that it could do without."""
    compare = _watch(root, ["compare", str(output), str(output)])

    assert compare.code == 0
    assert compare.seen == ()
    assert compare.modules & COSTLY <= {"subprocess"}, "packaging.tags imports that one"


def test_the_watch_sees(root: Path) -> None:
    """The audit hook of these tests reports a process, a write and a connection."""
    code = WATCH + (
        "import subprocess, socket\n"
        "subprocess.run([sys.executable, '-c', ''])\n"
        "open(os.devnull, 'w').close()\n"
        "try: socket.create_connection(('127.0.0.1', 1), timeout=1)\n"
        "except OSError: pass\n"
        "print(json.dumps(seen))"
    )
    seen = json.loads(_python(sys.executable, code).stdout)

    assert any(line.startswith("subprocess.Popen") for line in seen)
    assert any(line.startswith("writes") for line in seen)
    assert any(line.startswith("socket.connect") for line in seen)


def _watch(root: Path, arguments: list[str]) -> Watched:
    code = WATCH + PREAMBLE.format(root=str(root)) + RUN.format(arguments=arguments)
    done = _python(sys.executable, code, isolated=False)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stderr.splitlines()[-1])
    return Watched(report["code"], tuple(report["seen"]), frozenset(report["modules"]))


def _import_all(executable: str, root: Path, names: list[str]) -> dict[str, str]:
    code = PREAMBLE.format(root=str(root)) + IMPORT_ALL.format(names=names)
    done = _python(executable, code)

    assert done.returncode == 0, done.stderr
    failed: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return failed


def _python(
    executable: str, code: str, *, isolated: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run code with the standard library alone (or, not isolated, with what is installed)."""
    flags = ["-I", "-S", "-B"] if isolated else ["-I", "-B"]
    return subprocess.run(
        [executable, *flags, "-c", code], capture_output=True, text=True, timeout=120
    )
