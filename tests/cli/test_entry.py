"""Choosing a command, usage errors, crashes, and what happens to the output streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from envcheck import __version__
from envcheck.cli import main
from envcheck.cli.commands import COMMANDS
from tests.cli.running import PROGRAM, envcheck, only_message

if TYPE_CHECKING:
    from pathlib import Path


def test_help_and_version() -> None:
    """Help and version go to stdout with exit code 0."""
    for arguments in (["--help"], ["-h"], ["help"]):
        done = envcheck(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert envcheck("--version").stdout == f"envcheck {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches(name: str) -> None:
    """The help of a command has examples and fits the screen."""
    done = envcheck(name, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n  envcheck {name} " in done.stdout.partition("examples:")[2]
    assert max(map(len, done.stdout.splitlines())) <= 88
    assert envcheck("help", name).stdout == done.stdout


def test_no_command() -> None:
    """Without a command the overview goes to stderr, as a usage error."""
    done = envcheck()

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: envcheck {capture,")


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        (["captur"], "unknown command 'captur'", "did you mean envcheck capture?"),
        (["xyzzy"], "unknown command 'xyzzy'", "the commands are capture, compare, "),
        (["help", "compair"], "unknown command 'compair'", "did you mean envcheck compare?"),
        (["--verbose"], "unknown option --verbose", "options stand after the command"),
        (["capture", "--rol", "train"], "unknown option --rol", "did you mean --role?"),
        (["capture", "--role", "trian"], "'trian' is none of train, deploy", "did you mean train?"),
        (["capture", "--role"], "argument --role: expected one argument", "--help"),
        (["capture", "x.json"], "'x.json' is one argument too many", "--help"),
        (["capture", "-z"], "unknown option -z", "--help"),
        (["compare"], "the following arguments are required: TRAIN, DEPLOY", "--help"),
        (["compare", "a.json"], "the following arguments are required: DEPLOY", "--help"),
        (["compare", "a", "b", "--strct"], "unknown option --strct", "did you mean --strict?"),
        (["compare", "--strct", "a"], "unknown option --strct", "did you mean --strict?"),
        (["compare", "a", "b", "--format", "jsn"], "unknown format 'jsn'", "did you mean json?"),
        (
            ["compare", "a", "b", "--format", "pdf"],
            "unknown format 'pdf'",
            "formats: github, html",
        ),
        (["compare", "a", "b", "--format", "json="], "names no file", "--format json=report.json"),
        (["compare", "a", "b", "--format=text", "--format=json"], "the same place", "give all but"),
        (["compare", "a", "b", "--fail-on", "info"], "'info' is none of error, warning", ""),
        (["compare", "a", "b", "--color", "maybe"], "'maybe' is none of auto, always", ""),
        (["schema"], "the following arguments are required: NAME", "--help"),
        (["schema", "fingerprnt"], "is none of fingerprint, report", "did you mean fingerprint?"),
        (["\x1b[2J"], r"unknown command '\x1b[2J'", "the commands are"),
    ],
)
def test_usage_errors(arguments: list[str], problem: str, hint: str) -> None:
    """A usage error exits 2 and says what was meant."""
    message = only_message(envcheck(*arguments))

    assert problem in message
    assert hint in message


def crash(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command that raises what it should not."""
    code = (
        "import envcheck.cli.schema as s\n"
        "def boom(*_): raise ZeroDivisionError('a\\x1b[2J')\n"
        "s.run = boom\n"
        "from envcheck.cli import main"
    )
    program = [*PROGRAM[:-1], PROGRAM[-1].replace("from envcheck.cli import main", code)]
    return subprocess.run(
        [*program, "schema", "report", *arguments],
        capture_output=True, text=True, timeout=60, env={**os.environ, **environ},
    )  # fmt: skip


def test_a_crash_is_no_verdict() -> None:
    """An uncaught exception exits 4 and says how to report it; a traceback only on request."""
    plain = crash()

    assert r"internal error: ZeroDivisionError: a\x1b[2J" in only_message(plain, code=4)
    assert "please report it" in plain.stderr
    for done in (crash("-v"), crash(ENVCHECK_DEBUG="1")):
        assert done.returncode == 4
        assert "Traceback (most recent call last)" in done.stderr
        assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "problem", [SystemExit(1), SystemExit("x"), MemoryError(), RecursionError(), GeneratorExit()]
)
def test_nothing_gets_past_main(
    problem: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even a plug-in that ends the process gives an exit code that reads as a verdict."""

    def boom(*_: object) -> int:
        raise problem

    monkeypatch.setattr("envcheck.cli.schema.run", boom)

    assert main(["schema", "report"]) == 4
    assert capsys.readouterr().out == ""


def test_a_dependency_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without what pip would have installed, the message says what to install."""
    monkeypatch.setitem(sys.modules, "pydantic", None)

    assert main(["schema", "report"]) == 2
    assert "the schema of reports needs pydantic" in capsys.readouterr().err

    def boom(*_: object) -> int:
        raise ModuleNotFoundError("No module named 'packaging'", name="packaging")

    monkeypatch.setattr("envcheck.cli.schema.run", boom)

    assert main(["schema", "report"]) == 2
    message = capsys.readouterr().err
    assert "envcheck schema needs packaging, which is not installed" in message
    assert "python -m pip install 'ml-envcheck'" in message


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C exits 130 without a word."""
    pipe = tmp_path / "pipe"
    process = subprocess.Popen(
        [*PROGRAM, "compare", "-", "live"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (130, b"", b"")
    assert not pipe.exists()


def test_reader_that_goes_away() -> None:
    """A closed pipe, as behind `head`, is quiet and no success."""
    command = " ".join(f"'{word}'" for word in [*PROGRAM[:-1]])
    script = f'{{ {command} "$0" schema fingerprint; echo $? >&2; }} | true'
    done = subprocess.run(
        ["sh", "-c", script, PROGRAM[-1]], capture_output=True, text=True, timeout=60
    )

    assert done.stderr in ("141\n", "0\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("redirect", "problem"),
    [
        (">/dev/full", "standard output: cannot be written: No space left on device"),
        (">&-", "standard output: is closed"),
    ],
)
def test_stdout_that_takes_nothing(redirect: str, problem: str) -> None:
    """A full disk or a closed stdout behind `>` is an error, not a success."""
    command = " ".join(f"'{word}'" for word in [*PROGRAM[:-1]])
    done = subprocess.run(
        ["sh", "-c", f'{command} "$0" capture {redirect}', PROGRAM[-1]],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert problem in only_message(done)


def test_stderr_that_takes_nothing(tmp_path: Path) -> None:
    """With stderr closed or full the result still arrives, and alone on stdout."""
    command = " ".join(f"'{word}'" for word in [*PROGRAM[:-1]])
    for redirect in ("2>/dev/full", "2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'{command} "$0" capture {redirect}', PROGRAM[-1]],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0
        assert done.stdout.startswith('{\n  "schema"')
        assert done.stdout.endswith("}\n")


def test_module_run(root: Path) -> None:
    """`python -m envcheck` is the same command."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "envcheck", "--version"],
        cwd=root, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.stdout == f"envcheck {__version__}\n"
