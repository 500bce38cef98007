"""A runtime that crashes, hangs or eats the memory ends as a finding, not as the end of envcheck.

The child is replaced by small programs that tell what a comparison would tell, and then end in
all the ways in which native code does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

pytest.importorskip("numpy", reason="needs the onnx extra")

from envcheck.conversion import isolation
from envcheck.conversion.isolation import ChildCrash
from envcheck.conversion.running import parity
from envcheck.errors import InputError, MissingExtra, NothingChecked
from tests.cli.running import envcheck

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from envcheck.findings import Report

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

_HEAD = """
import json, os, signal, sys, time
from envcheck.conversion.child import end_with_parent
channel = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
end_with_parent()
def tell(kind, value):
    channel.write(json.dumps({"kind": kind, "value": value}) + "\\n")
    channel.flush()
"""


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Return a comparison of two files whose child runs the given lines."""

    def run(lines: str, **settings: Any) -> Report:
        name = f"child_{time.monotonic_ns()}"
        (tmp_path / f"{name}.py").write_text(_HEAD + lines)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(isolation, "_MODULE", name)
        return parity("model.keras", "model.onnx", **settings)

    return run


def _crash(step: str, how: str) -> str:
    return f"print('last words')\ntell('step', {step!r})\n{how}\n"


SEGFAULT = "os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.mark.parametrize(
    ("step", "verdict", "rule", "subject"),
    [
        ("running the candidate", "run-fail", "CNV003", "model.onnx"),
        ("loading the candidate", "load-fail", "CNV002", "model.onnx"),
        ("recording the reference", "run-fail", "CNV003", "model.keras"),
    ],
)
def test_a_crash_is_a_finding(
    compare: Callable[..., Report], step: str, verdict: str, rule: str, subject: str
) -> None:
    """The finding names the side, what it was doing, and the signal."""
    report = compare(_crash(step, SEGFAULT))
    (finding,) = report.findings

    assert report.verdict == "does_not_conform"
    assert report.parity is not None
    assert report.parity["verdict"] == verdict
    assert finding.rule == rule
    assert finding.subject == subject
    assert "SIGSEGV" in finding.title
    assert step in finding.detail


def test_an_exit_is_told_with_its_code_and_last_words(compare: Callable[..., Report]) -> None:
    """A runtime that calls exit() does not pass for a comparison."""
    (finding,) = compare(_crash("running the candidate", "os._exit(7)")).findings

    assert "exit code 7" in finding.title
    assert "last words" in [evidence.value for evidence in finding.evidence]


def test_a_runtime_that_hangs_is_ended(compare: Callable[..., Report]) -> None:
    """The time limit is told, and the child is gone."""
    lines = "tell('step', 'running the candidate')\ntell('known', {'inputs': {'pid': os.getpid()}})"
    report = compare(f"{lines}\ntime.sleep(60)", time_limit=1.0)

    assert report.parity is not None
    assert "time limit of 1 s" in report.findings[0].title
    assert not psutil.pid_exists(report.parity["inputs"]["pid"])


def test_a_runtime_that_eats_the_memory_is_ended(compare: Callable[..., Report]) -> None:
    """The memory limit is told."""
    lines = _crash("running the candidate", "held = b'x' * (300 << 20)\ntime.sleep(60)")
    (finding,) = compare(lines, memory_limit=150 << 20).findings

    assert "memory limit of 0.146 GiB" in finding.title
    assert "--memory-limit" in finding.fix.text


RESULT = """
from envcheck.findings import Report
tell('result', Report(checked=('conversion',), rules={'pass': 1}, notes=('whole',)).to_json())
"""


def test_the_clock_stops_while_the_converter_has_its_own(compare: Callable[..., Report]) -> None:
    """Waiting for the conversion does not count; what comes after does."""
    wait = "tell('known', {'waiting': True}); time.sleep(1.5); tell('known', {'waiting': False})"

    assert compare(wait + RESULT, time_limit=1.2).notes == ("whole",)
    report = compare(wait + "; time.sleep(9)" + RESULT, time_limit=1.2)
    assert "time limit" in report.findings[0].title


def test_a_result_counts_whatever_happens_on_the_way_out(compare: Callable[..., Report]) -> None:
    """Native libraries that crash while the process ends change no verdict."""
    assert compare(RESULT + SEGFAULT).notes == ("whole",)


@pytest.mark.parametrize(
    ("agree", "verdict", "rules"), [(False, "mismatch", ["CNV015"]), (True, "inconclusive", [])]
)
def test_what_was_known_is_kept(
    compare: Callable[..., Report], agree: bool, verdict: str, rules: list[str]
) -> None:
    """Ended while layers were compared: the outputs that were compared by then still count."""
    output = {"name": "out", "error": 1e-7 if agree else 0.2, "tolerance": 1e-5, "flips": 0}
    known = {"outputs": [output], "agree": agree, "note": "invented"}
    report = compare(f"tell('known', {known})\n" + _crash("locating the faults", SEGFAULT))

    assert report.parity is not None
    assert report.parity["verdict"] == verdict
    assert [finding.rule for finding in report.findings] == rules
    assert report.verdict == ("undetermined" if agree else "does_not_conform")
    assert report.notes == ("invented",)
    assert agree == any("SIGSEGV" in item.reason for item in report.undetermined)


def test_errors_come_through(compare: Callable[..., Report]) -> None:
    """An input error of the child is the parent's, with place and hint."""
    error = {"class": "InputError", "problem": "is cut off", "place": "a", "hint": "copy it"}
    with pytest.raises(InputError) as caught:
        compare(f"tell('error', {error})")
    missing = {**error, "class": "MissingExtra"}
    with pytest.raises(MissingExtra):
        compare(f"tell('error', {missing})")

    assert str(caught.value) == "a: is cut off\nhint: copy it"


def test_a_fault_of_ours_is_one(compare: Callable[..., Report]) -> None:
    """What the child should not have raised is no verdict, and keeps its traceback."""
    with pytest.raises(ChildCrash, match="KeyError: 'x'") as caught:
        compare("tell('crash', {'problem': \"KeyError: 'x'\", 'traceback': 'line 3'})")

    assert caught.value.__notes__ == ["line 3"]


def test_interrupting_ends_the_child(compare: Callable[..., Report]) -> None:
    """Ctrl-C reaches the parent alone, which takes the child with it."""
    seen = []

    def interrupt(step: str) -> None:
        seen.append(int(step))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare("tell('step', str(os.getpid()))\ntime.sleep(60)", progress=interrupt)

    assert not psutil.pid_exists(seen[0])


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    """A parent that is killed leaves no process behind."""
    (tmp_path / "orphan.py").write_text(
        "import os, sys, time\nfrom envcheck.conversion.child import end_with_parent\n"
        "end_with_parent()\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n"
    )
    code = (
        "import sys, time\nfrom envcheck.conversion.children import start\n"
        "child = start('orphan', 'x', log=sys.stderr.buffer, output=sys.stdout.buffer)\n"
        "time.sleep(60)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    child.wait(timeout=20)


RUNTIME = """
import os, signal, sys
from envcheck.conversion.runtimes.protocol import Feed, Whole
NAME, SUFFIXES = "crashing", (".crash",)
class Candidate(Whole):
    name = NAME
    inputs = outputs = (Feed(name="x", dtype="float32", shape=(None, None)),)
    def tensors(self): return []
    def identity(self): return {"runtime": NAME}
    def run_all(self, feeds, store): os.kill(os.getpid(), signal.SIGSEGV)
    def run(self, feeds): os.kill(os.getpid(), signal.SIGSEGV)
def open_candidate(path, settings): return Candidate()
"""


@pytest.fixture
def crashing(tmp_path: Path) -> dict[str, str]:
    """Return the environment in which a runtime is installed that crashes when it runs."""
    import numpy as np

    (tmp_path / "crashing.py").write_text(RUNTIME)
    info = tmp_path / "crashing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crashing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[envcheck.runtimes]\ncrashing = crashing\n")
    np.savez(tmp_path / "x.npz", x=np.ones((2, 3), "float32"))
    return {"PYTHONPATH": str(tmp_path)}


def test_tracing_survives_a_crash(tmp_path: Path, crashing: dict[str, str]) -> None:
    """`envcheck trace` says which signal, with exit code 3, and leaves no half file."""
    pytest.importorskip("onnx", reason="needs the onnx extra")
    from tests.conversion.graphs import Weights, candidate

    candidate(tmp_path / "m.onnx", Weights())
    arguments = ("m.onnx", "--runtime", "crashing", "--inputs", "x.npz", "-o", "m.trace")
    done = envcheck("trace", *arguments, cwd=tmp_path, environ=crashing)

    assert done.returncode == 3, done.stderr
    assert "SIGSEGV" in done.stderr
    assert "while running the model" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.trace*"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_comparing_survives_a_crash(tmp_path: Path, crashing: dict[str, str]) -> None:
    """`envcheck parity` reports the crash of a candidate's runtime, with exit code 1."""
    keras = pytest.importorskip("keras", reason="needs the keras extra")
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(tmp_path / "m.keras")
    (tmp_path / "m.crash").write_bytes(b"any")
    done = envcheck("parity", "m.keras", "m.crash", cwd=tmp_path, environ=crashing)

    assert done.returncode == 1, done.stderr
    assert "m.crash does not run" in done.stdout
    assert "SIGSEGV" in done.stdout
    assert done.stderr == ""


def test_a_trace_that_was_killed_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python function raises, and the half file is removed."""
    from envcheck.conversion.tracing_models import trace

    (tmp_path / "dies.py").write_text(_HEAD + SEGFAULT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(isolation, "_MODULE", "dies")
    part = tmp_path / "a.trace.part"
    part.write_bytes(b"half")
    with pytest.raises(NothingChecked, match="SIGSEGV"):
        trace("m.onnx", "x.npz", tmp_path / "a.trace")

    assert not part.exists()
