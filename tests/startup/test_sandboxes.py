"""The start in the places where containers run: read-only, homeless, masked, unprivileged."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import envcheck
from envcheck.fingerprint.reading import read_fingerprint
from envcheck.startup.seal import make_seal
from tests.cli.running import PROGRAM
from tests.startup.box import Box, events, started

Unshare = Callable[..., list[str]]
WAITS = "import os, time; print('started', os.getpid(), flush=True); time.sleep(60)"


def test_a_read_only_file_system(box: Box, unshare: Unshare) -> None:
    """Nothing is written: the check passes with the whole tree mounted read-only."""
    script = (
        'mount -o bind / /mnt && mount -o remount,bind,ro /mnt && cd /mnt && exec chroot /mnt "$@"'
    )
    done = box.run(
        "exec", *box.sealed, "--", sys.executable, "-c", "print('started', 1)",
        before=unshare(script),
    )  # fmt: skip

    assert (done.returncode, started(done)) == (0, True), done.stderr


def test_a_masked_proc(box: Box, unshare: Unshare) -> None:
    """With /proc hidden the facts are unknown, the rules decide, and the application starts."""
    done = box.execute(*box.sealed, before=unshare("mount -t tmpfs none /proc"))

    assert (done.returncode, started(done)) == (0, True), done.stderr
    assert events(done)[-1]["how"] == "rules"


def test_no_home_and_no_privileges() -> None:
    """A user without a name, a home or rights starts like any other."""
    python = Path("/usr/bin/python3")
    if os.geteuid() != 0 or not python.exists():
        pytest.skip("needs root, and an interpreter that nobody may run")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python), *PROGRAM[1:], *map(str, arguments)], env={"PATH": "/usr/bin"},
            user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip

    train, seal = folder / "train.json", folder / "seal.json"
    train.write_text(run("capture", "-q").stdout)
    made = read_fingerprint(str(train))
    outcome = envcheck.compare(made, made)
    seal.write_text(make_seal(made, made, outcome, ""))
    done = run("exec", "--train", train, "--seal", seal, "--", "/usr/bin/id", "-u")

    assert (done.returncode, done.stdout) == (0, "65534\n"), done.stderr
    assert events(done)[0]["event"] == "sealed"
    shutil.rmtree(folder)


def test_unprivileged_in_a_user_namespace(box: Box) -> None:
    """Without HOME and without capabilities the check needs nothing of either."""
    if os.geteuid() != 0:
        pytest.skip("needs root to give rights away")
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    done = box.execute(*box.sealed, before=["env", "-u", "HOME", *drop])

    assert (done.returncode, started(done)) == (0, True), done.stderr


def test_the_termination_message(own_box: Box) -> None:
    """What Kubernetes shows is short, says why, and is written only into a file that is there."""
    log = own_box.folder / "termination-log"
    own_box.remove("numpy")
    named = {"ENVCHECK_TERMINATION_LOG": str(log)}
    assert own_box.execute(*own_box.sealed, environ=named).returncode == 1
    assert not log.exists()

    log.write_text("old" * 1000)
    done = own_box.execute(*own_box.sealed, environ=named)
    text = log.read_bytes()
    assert (done.returncode, started(done)) == (1, False)
    assert len(text) <= 1000
    assert text.startswith(b"envcheck: does not conform: 2 problems\nerror ENV050 package.numpy:")


def test_the_default_termination_log(own_box: Box, unshare: Unshare) -> None:
    """Without a variable the message goes where Kubernetes mounts the file."""
    log = own_box.folder / "message"
    log.touch()
    own_box.remove("numpy")
    script = (
        "mount -t tmpfs none /dev && touch /dev/termination-log && "
        f"mount --bind {log} /dev/termination-log"
    )
    done = own_box.run("selftest", *own_box.sealed, before=unshare(script))

    assert done.returncode == 1, done.stderr
    assert "numpy" in log.read_text()


def test_nothing_is_written_for_a_start_that_passes(box: Box, tmp_path: Path) -> None:
    """A conforming start leaves the termination log to the application."""
    log = tmp_path / "termination-log"
    log.write_text("mine")
    box.execute(*box.sealed, environ={"ENVCHECK_TERMINATION_LOG": str(log)})

    assert log.read_text() == "mine"


def test_the_application_keeps_the_process(box: Box) -> None:
    """The process id stays, and SIGTERM ends the application itself at once."""
    command = [*box.program, "exec", *map(str, box.sealed), "--", sys.executable, "-c", WAITS]
    with subprocess.Popen(
        command, env=box.environ, cwd=box.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line == f"started {process.pid}\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        assert children == "", "nothing supervises"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM


def test_sigterm_during_the_check(own_box: Box) -> None:
    """SIGTERM ends a check that is under way, and the application is never started."""
    pipe = own_box.folder / "train"
    os.mkfifo(pipe)
    command = [*own_box.program, "exec", "--train", str(pipe), "--", sys.executable, "-c", WAITS]
    with subprocess.Popen(
        command, env=own_box.environ, cwd=own_box.folder, stdout=subprocess.PIPE
    ) as process:
        _wait_until_it_checks(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
        assert process.stdout is not None
        assert process.stdout.read() == b""


def _wait_until_it_checks(pid: int) -> None:
    """Wait until the process has the fingerprint's pipe open."""
    for _ in range(1000):
        folder = Path(f"/proc/{pid}/fd")
        if any(str(link.readlink()).endswith("/train") for link in folder.iterdir()):
            return
        time.sleep(0.01)
    raise AssertionError("the check did not come to the train side")


def test_process_one(own_box: Box, unshare: Unshare) -> None:
    """As process 1, which the kernel shields from signals, the check still heeds SIGTERM."""
    pipe = own_box.folder / "train"
    os.mkfifo(pipe)
    before = unshare("mount -t proc proc /proc", "--pid", "--fork", "--kill-child")
    command = [*before, *own_box.program, "exec", "--train", str(pipe), "--", "true"]
    with subprocess.Popen(command, env=own_box.environ, cwd=own_box.folder) as process:
        inner = _child_of(process.pid)
        _wait_until_it_checks(inner)
        os.kill(inner, signal.SIGTERM)
        assert process.wait(10) == 128 + signal.SIGTERM


def _child_of(pid: int) -> int:
    for _ in range(1000):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if text:
            return int(text[0])
        time.sleep(0.01)
    raise AssertionError("no child appeared")


def test_the_application_finds_the_process_as_it_was(box: Box) -> None:
    """Signals have their defaults, no timer runs, and no variable was added."""
    code = (
        "import json, os, signal\n"
        "ignored = [line for line in open('/proc/self/status') if line.startswith('SigIgn')]\n"
        "given = open('/proc/self/environ').read().split('\\0')\n"
        "print(json.dumps([ignored, signal.getitimer(0), sorted(given)]))"
    )
    environ = {**box.environ, "LC_ALL": "", "LANG": "C"}
    environ.pop("LC_CTYPE", None)
    start = ["env", "-i", *[f"{name}={value}" for name, value in environ.items()]]
    through = [*box.program, "exec", *map(str, box.sealed), "--"]
    seen = [
        subprocess.run(
            [*start, *command, sys.executable, "-c", code],
            capture_output=True, text=True, cwd=box.folder, check=True, timeout=60,
        ).stdout
        for command in ([], through)
    ]  # fmt: skip
    assert json.loads(seen[0]) == json.loads(seen[1])


def test_an_application_that_cannot_be_started(box: Box) -> None:
    """A program that is not there is a usage error, after a check that passed."""
    done = box.run("exec", *box.sealed, "--", "no-such-program")

    assert done.returncode == 2
    assert "the application cannot be started: no such file" in done.stderr
    assert box.run("exec", *box.sealed).returncode == 2
    assert box.run("exec", *box.sealed, "--").returncode == 2


def test_health(box: Box, tmp_path: Path) -> None:
    """`health` says what the last self-test came to, with its exit code, and 3 before it ended."""
    state = tmp_path / "state.json"
    named = {"ENVCHECK_STATE": str(state)}
    assert box.run("health", environ=named).returncode == 3

    assert box.execute(*box.sealed, environ=named).returncode == 0
    done = box.run("health", environ=named)
    assert (done.returncode, done.stdout.partition(" (")[0]) == (0, "conforms")

    failed = {**named, "ENVCHECK_TRAIN": str(tmp_path / "none.json")}
    assert box.execute(environ=failed).returncode == 2
    done = box.run("health", "--state", state)
    assert (done.returncode, done.stdout.partition(" (")[0]) == (2, "failed: 1 problem")

    state.write_text('{"schema": "envcheck.state/1", "exit_code": true}')
    assert box.run("health", environ=named).returncode == 2
    assert box.run("health").returncode == 2


def test_a_state_file_that_cannot_be_written_stops_nothing(box: Box) -> None:
    """The application matters more than the file about it."""
    done = box.execute(*box.sealed, environ={"ENVCHECK_STATE": "/proc/no/such"})

    assert (done.returncode, started(done)) == (0, True)
    assert events(done)[-1]["event"] == "state"
