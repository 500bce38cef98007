"""A golden at start-up: replayed in a process of its own, within the budget, under the policy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import PROGRAM, envcheck
from tests.goldens.test_files import HOSTILE, golden
from tests.startup.box import APPLICATION, events, started

np = pytest.importorskip("numpy")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.goldens.test_replay import classifier, weights  # noqa: E402

ENTRY = """
import os, signal, sys, time
def same(raw): return raw["x"]
def chatty(raw):
    print("hello from a runtime", flush=True)
    os.write(1, b"native\\n")
    os.write(2, b"native\\n")
    return raw["x"]
def crash(raw):
    os.kill(os.getpid(), signal.SIGSEGV)
def hang(raw):
    with open("pid", "w") as file: file.write(str(os.getpid()))
    while True: time.sleep(60)
def deaf(raw):
    for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    hang(raw)
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, its golden from raw inputs, and a train fingerprint."""
    import envcheck as product

    folder = tmp_path_factory.mktemp("release")
    model = classifier(folder / "model.onnx", weights())
    (folder / "steps.py").write_text(ENTRY)
    np.savez(folder / "raw.npz", x=np.ones((4, 12), "float32"))
    product.record_golden(model, folder / "plain.golden")
    recorded = ["golden", "record", "model.onnx", "--inputs", "raw.npz", "--entry", "steps:same"]
    done = envcheck(*recorded, "-o", "raw.golden", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert envcheck("capture", "--role", "train", "-o", folder / "train.json").returncode == 0
    return folder


def start(folder: Path, *options: object, **environ: str) -> Any:
    """Return what `envcheck exec` did with a golden in this folder."""
    arguments = ["exec", "--train", "train.json", "--model", "model.onnx", *map(str, options)]
    return envcheck(*arguments, "--", sys.executable, "-c", APPLICATION, cwd=folder,
                    environ=environ)  # fmt: skip


def test_it_starts_and_says_so(release: Path) -> None:
    """What a runtime prints stays out of the log, which is JSON lines, and out of stdout."""
    done = start(release, "--golden", "raw.golden", "--entry", "steps:chatty")

    assert (done.returncode, started(done)) == (0, True), done.stderr
    (seen,) = [item for item in events(done) if item["event"] == "golden"]
    assert (seen["level"], seen["verdict"]) == ("info", "exact")
    assert "native" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["missing", "pickle", "giant", "no_json", "noise"])
def test_a_hostile_golden_follows_the_policy(name: str, release: Path, tmp_path: Path) -> None:
    """Closed: exit code 2 before the application starts. Open: it starts, the problem is logged."""
    path = tmp_path / "evil.golden"
    if name != "missing":
        golden(path, **HOSTILE[name])
    for policy, code in (("closed", 2), ("open", 0)):
        done = start(release, "--golden", path, "--policy", policy)
        assert (done.returncode, started(done)) == (code, code == 0), done.stderr
        (problem,) = [item for item in events(done) if item["event"] == "problem"]
        assert "evil.golden" in problem["problem"]


@pytest.mark.parametrize(("policy", "code"), [("closed", 1), ("warn", 0), ("open", 0)])
def test_a_crash_takes_nothing_with_it(policy: str, code: int, release: Path) -> None:
    """A runtime that ends its process has failed, and the policy decides, not the signal."""
    done = start(release, "--golden", "raw.golden", "--entry", "steps:crash", "--policy", policy)

    assert (done.returncode, started(done)) == (code, code == 0), done.stderr
    (seen,) = [item for item in events(done) if item["event"] == "golden"]
    assert seen["verdict"] == "failed"
    assert f"signal {signal.SIGSEGV:d}" in seen["problem"]


@pytest.mark.parametrize("entry", ["hang", "deaf"])
def test_the_budget_ends_a_replay(entry: str, release: Path) -> None:
    """A replay that never ends is cut off, leaves no process, and is not checked."""
    done = start(release, "--golden", "raw.golden", "--entry", f"steps:{entry}", "--budget", "4")

    assert (done.returncode, started(done)) == (3, False), done.stderr
    (late,) = [item for item in events(done) if item["event"] == "timeout"]
    assert late["what"] == "golden"
    assert events(done)[-1]["seconds"] < 20
    assert not Path(f"/proc/{(release / 'pid').read_text()}").exists()


def test_the_replay_ends_with_the_check(release: Path) -> None:
    """SIGTERM while a golden is replayed ends the check, and the replay with it."""
    (release / "pid").unlink(missing_ok=True)
    command = [*PROGRAM, "selftest", "--train", "train.json", "--model", "model.onnx",
               "--golden", "raw.golden", "--entry", "steps:hang"]  # fmt: skip
    with subprocess.Popen(command, cwd=release, stderr=subprocess.DEVNULL) as process:
        pid = _wait_for(release / "pid")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
    for _ in range(500):
        if not Path(f"/proc/{pid}").exists() or _is_zombie(pid):
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the replay went on without its parent")


def _wait_for(path: Path) -> int:
    for _ in range(1500):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError("the replay did not begin")


def _is_zombie(pid: int) -> bool:
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()


def test_the_function_replays_too(release: Path) -> None:
    """`envcheck.selftest(golden=…)` loads no runtime into this process to do it."""
    code = (
        "import sys, json, envcheck\n"
        "done = envcheck.selftest('train.json', model='model.onnx', golden='plain.golden')\n"
        "print(json.dumps([done.code, done.details['golden']['verdict'],"
        " 'onnxruntime' in sys.modules, 'numpy' in sys.modules]))"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], cwd=release, capture_output=True, text=True,
                          env=environ, timeout=60, check=True)  # fmt: skip

    assert json.loads(done.stdout) == [0, "exact", False, False]
