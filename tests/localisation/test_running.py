"""A script runs under the recorder exactly as it runs under Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from envcheck.errors import InputError
from envcheck.localisation.running import interpreter_options, run_recorded
from tests.cli.running import PROGRAM, envcheck, only_message

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = {
    "module": """\
import sys
print(sorted(globals()), __name__, __file__, __spec__, type(__loader__), __loader__.path)
print(__package__, __builtins__, __doc__, sys.modules["__main__"].__dict__ is globals())
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.warnoptions, sys.excepthook)
""",
    "input": "import sys\nprint(sys.stdin.read(), end='')\nprint('told', file=sys.stderr)\n",
    "ending": """\
import atexit, threading, time
atexit.register(print, "bye")
def late():
    time.sleep(0.1)
    print("late")
threading.Thread(target=late).start()
""",
    "warning": "import warnings\ndef f():\n    warnings.warn('careful', stacklevel=2)\nf()\n",
    "crash": """\
def f():
    1 / 0
try:
    f()
except ZeroDivisionError:
    raise KeyError("lost")
""",
    "group": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])\n",
    "syntax": "def f(:\n    pass\n",
    "hook": """\
import sys
def hook(kind, value, trace):
    print(kind, trace.tb_frame.f_code.co_filename, trace.tb_next)
sys.excepthook = hook
1 / 0
""",
    "message": "import sys\nsys.exit('no data')\n",
    "code": "import sys\nsys.exit(7)\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "hard": "import os\nprint('x', flush=True)\nos._exit(9)\n",
    "spawn": """\
import multiprocessing
def square(x):
    return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, [1, 2, 3]))
""",
    "shadow": "import statistics\nprint(statistics.mine)\n",
    "pickle": """\
import inspect, pickle
class A:
    pass
print(type(pickle.loads(pickle.dumps(A()))), inspect.getsource(A))
""",
}


def _plain(script: str, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-B", *options, script, "a", "--json", "-x"]
    return subprocess.run(command, cwd=folder, input=b"in\nput", capture_output=True, timeout=60)


def _recorded(script: str, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    own = ["localise", "-o", os.devnull, "-q", "--script-exit", script, "a", "--json", "-x"]
    command = [PROGRAM[0], PROGRAM[1], *options, *PROGRAM[2:], *own]
    return subprocess.run(command, cwd=folder, input=b"in\nput", capture_output=True, timeout=60)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_cannot_tell(name: str, tmp_path: Path) -> None:
    """Streams, exit code and traceback are those of `python script.py`, byte for byte."""
    (tmp_path / "statistics.py").write_text("mine = 1\n")
    (tmp_path / f"{name}.py").write_text(SCRIPTS[name])

    plain, recorded = _plain(f"{name}.py", tmp_path), _recorded(f"{name}.py", tmp_path)

    assert recorded.stdout == plain.stdout
    assert recorded.stderr == plain.stderr
    code = plain.returncode
    assert recorded.returncode == (code if code >= 0 else 128 - code)


@pytest.mark.parametrize("options", [("-O",), ("-X", "dev", "-Werror"), ("-P",), ("-bb",)])
def test_options_of_the_interpreter_are_kept(options: tuple[str, ...], tmp_path: Path) -> None:
    """The child is started as the parent was."""
    (tmp_path / "module.py").write_text(SCRIPTS["module"])

    plain = _plain("module.py", tmp_path, *options)
    recorded = _recorded("module.py", tmp_path, *options)

    assert recorded.stdout == plain.stdout


def test_scripts_elsewhere_find_their_neighbours(tmp_path: Path) -> None:
    """The folder of the script, links resolved, comes first in the path."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "s.py").write_text("import sys, near\nprint(sys.path[0], __file__)\n")
    (tmp_path / "deep" / "near.py").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "deep" / "s.py")

    for script in ("deep/s.py", "link.py"):
        plain, recorded = _plain(script, tmp_path), _recorded(script, tmp_path)
        assert plain.returncode == 0
        assert recorded.stdout == plain.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["python", "-m", "envcheck", "-O"], []),
        (["python", "-O", "-Werror", "-X", "dev", "-c", "x"], ["-O", "-Werror", "-X", "dev"]),
        (["python", "-Bum", "envcheck"], ["-Bu"]),
        (["python", "-Xutf8=1", "script.py", "-O"], ["-Xutf8=1"]),
        (["python", "-W", "ignore", "-mx"], ["-W", "ignore"]),
        (["python", "--check-hash-based-pycs", "always", "s"],
         ["--check-hash-based-pycs", "always"]),
        (["python"], []),
    ],
)  # fmt: skip
def test_interpreter_options(words: list[str], expected: list[str]) -> None:
    """Options before the program are kept, and nothing of the program's own."""
    assert interpreter_options(words) == expected


def test_a_script_without_keras_is_not_judged(tmp_path: Path) -> None:
    """Nothing was trained, so nothing was checked: exit 3, and the reason stands in the report."""
    (tmp_path / "plain.py").write_text("print('out')\n")

    done = envcheck("localise", "--record", "log.json", "plain.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (3, "out\n")
    assert "did not import Keras" in done.stderr
    log = json.loads((tmp_path / "log.json").read_text())
    assert (log["recorded"], log["program"]["script"]) == (False, "plain.py")
    assert log["fingerprint"]["schema"] == "envcheck.fingerprint/1"


def test_a_crash_is_evidence(tmp_path: Path) -> None:
    """Type, message and line of the exception are recorded; the home folder is not."""
    text = "import helper\n\nhelper.f()\n"
    (tmp_path / "crash.py").write_text(text)
    lines = ["import os", "def f():", "    raise OSError(os.path.join(os.environ['HOME'], 'data'))"]
    (tmp_path / "helper.py").write_text("\n".join(lines))

    environ = {"HOME": "/home/jane"}
    done = envcheck("localise", "--record", "log.json", "crash.py", cwd=tmp_path, environ=environ)

    told = json.loads((tmp_path / "log.json").read_text())["program"]
    assert (told["exit_code"], told["interrupted"]) == (1, None)
    assert (told["exception"]["type"], told["exception"]["message"]) == ("OSError", "~/data")
    places = [(site["file"], site["line"]) for site in told["exception"]["chain"]]
    assert places == [("helper.py", 3), ("crash.py", 3)]
    assert "envcheck/" not in done.stderr.partition("OSError")[0]


def test_the_time_limit_interrupts(tmp_path: Path) -> None:
    """The script gets Ctrl-C and may tidy up; the log says what ended it."""
    text = "import time\ntry:\n    time.sleep(50)\nexcept KeyboardInterrupt:\n    print('tidy')\n"
    (tmp_path / "slow.py").write_text(text)

    begun = time.monotonic()
    done = envcheck(
        "localise", "--max-seconds", "3", "--record", "log.json", "slow.py", cwd=tmp_path
    )

    assert time.monotonic() - begun < 30
    assert (done.returncode, done.stdout) == (3, "tidy\n")
    assert json.loads((tmp_path / "log.json").read_text())["program"]["interrupted"] == "time-limit"


def test_a_killed_script_is_reported(tmp_path: Path) -> None:
    """SIGKILL leaves no time to write; the report says so, and the exit code is a shell's."""
    (tmp_path / "killed.py").write_text("import os\nos.kill(os.getpid(), 9)\n")

    run = run_recorded(tmp_path / "killed.py", fingerprint=False)
    assert (run.exit_code, run.log["program"]["interrupted"]) == (-signal.SIGKILL, "killed")
    assert run.log["reason"] == "the program ended before anything was recorded"

    done = envcheck("localise", "--script-exit", "killed.py", cwd=tmp_path)
    assert done.returncode == 137


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_script(number: signal.Signals, tmp_path: Path) -> None:
    """A signal to envcheck is handed on, and the report still comes."""
    text = "import time\nopen('there', 'w').close()\ntime.sleep(50)\n"
    (tmp_path / "slow.py").write_text(text)
    command = [*PROGRAM, "localise", "--record", "log.json", "slow.py"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as parent:
        deadline = time.monotonic() + 30
        while not (tmp_path / "there").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        parent.send_signal(number)
        _, told = parent.communicate(timeout=60)

    assert parent.returncode == 3, told
    program = json.loads((tmp_path / "log.json").read_text())["program"]
    assert program["exit_code"] == -number
    assert program["interrupted"] == ("ctrl-c" if number == signal.SIGINT else "killed")


def test_what_is_no_script(tmp_path: Path) -> None:
    """Wrong input is told in one message with exit code 2, before anything runs."""
    (tmp_path / "book.ipynb").write_text("{}")
    (tmp_path / "binary.py").write_bytes(b"\0\1")

    for name, problem in (
        ("missing.py", "No such file"), ("book.ipynb", "is a notebook"),
        ("binary.py", "is no Python source"), (".", "is a folder"),
    ):  # fmt: skip
        assert problem in only_message(envcheck("localise", name, cwd=tmp_path))
        with pytest.raises(InputError):
            run_recorded(tmp_path / name)
    assert "no script is named" in only_message(envcheck("localise", "--strict", cwd=tmp_path))
    assert "unknown option --jsn" in only_message(envcheck("localise", "--jsn", "x", "a.py"))


def test_the_other_spelling_is_the_same_command(tmp_path: Path) -> None:
    """`localize` is `localise`."""
    (tmp_path / "plain.py").write_text("")

    assert envcheck("localize", "plain.py", cwd=tmp_path).returncode == 3
    assert "envcheck localise" in envcheck("localize", "--help").stdout
