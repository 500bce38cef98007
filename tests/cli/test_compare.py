"""`envcheck compare`, as a process."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.facts import ok, unknown
from envcheck.fingerprint import Fingerprint
from tests.cli.running import envcheck, only_message

if TYPE_CHECKING:
    from pathlib import Path

BASE = {
    "os.system": ok("linux"),
    "os.libc_family": ok("glibc"),
    "cpu.architecture": ok("x86_64"),
    "python.version": ok("3.11.7"),
    "python.implementation": ok("cpython"),
    "python.packages": ok({"count": 1, "complete": True, "kind": "installed"}),
    "package.numpy": ok({"version": "2.0.0", "requires": []}),
}
OTHER = {
    "package.scikit-learn": ok({"version": "1.3.2", "requires": ["numpy>=3"]}),
    "package.numpy": ok({"version": "1.20.0", "requires": []}),
}
"""A requirement that is declared and not met, and another major version."""


def write(path: Path, *changes: dict[str, Any], **envelope: str) -> Path:
    """Write a small fingerprint."""
    facts = dict(BASE)
    for change in changes:
        facts.update(change)
    Fingerprint(facts, {"tool": "envcheck 0.1.0", **envelope}).write(str(path))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return a folder with train.json and a deploy.json that does not conform."""
    write(tmp_path / "train.json", role="train")
    write(tmp_path / "deploy.json", OTHER, role="deploy")
    return tmp_path


def test_same_environment(pair: Path) -> None:
    """A fingerprint conforms to itself: exit code 0."""
    done = envcheck("compare", "train.json", "train.json", cwd=pair)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "CONFORMS: no errors, no warnings (train.json against train.json)"
    )
    assert done.stderr == ""


def test_other_environment(pair: Path) -> None:
    """An environment that does not conform gives exit code 1, and the report says why."""
    done = envcheck("compare", "train.json", "deploy.json", cwd=pair)

    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("DOES NOT CONFORM: ")
    assert "(deploy.json against train.json)" in done.stdout
    assert "numpy>=3" in done.stdout
    assert "deploy.json:" in done.stdout


def test_json_report(pair: Path) -> None:
    """The JSON report is all there is on stdout, and agrees with the exit code."""
    done = envcheck("compare", "train.json", "deploy.json", "--format", "json", cwd=pair)
    report = json.loads(done.stdout)

    assert report["schema"] == "envcheck.report/1"
    assert report["verdict"] == "does_not_conform"
    assert report["counts"]["error"] >= 1
    assert report["inputs"]["train"]["place"] == "train.json"
    assert (done.returncode, done.stderr) == (1, "")


def test_several_reports_from_one_run(pair: Path) -> None:
    """Formats with files are written beside the one on stdout."""
    done = envcheck(
        "compare", "train.json", "deploy.json",
        "--format", "text", "--format", "json=r.json", "--format=text=r.txt", cwd=pair,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stdout.startswith("DOES NOT CONFORM")
    assert (pair / "r.txt").read_text("utf-8") == done.stdout
    assert json.loads((pair / "r.json").read_text())["verdict"] == "does_not_conform"
    assert done.stderr == "wrote r.json\nwrote r.txt\n"


def test_a_file_and_nothing_on_stdout(pair: Path) -> None:
    """With only `json=FILE`, or with `-o`, stdout stays empty."""
    first = envcheck("compare", "train.json", "deploy.json", "--format=json=a", "-q", cwd=pair)
    second = envcheck(
        "compare", "train.json", "deploy.json", "--format=json", "-o", "b", "-q", cwd=pair
    )

    assert (first.returncode, first.stdout, first.stderr) == (1, "", "")
    assert (second.returncode, second.stdout, second.stderr) == (1, "", "")
    assert (pair / "a").read_bytes() == (pair / "b").read_bytes()


def test_report_that_cannot_be_written(pair: Path) -> None:
    """A report file in a folder that does not exist is an error, not a verdict."""
    done = envcheck("compare", "train.json", "deploy.json", "-o", "none/r.txt", cwd=pair)

    assert "none/r.txt: cannot be written" in only_message(done)


@pytest.mark.parametrize(("level", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_fail_on(level: str, code: int, pair: Path) -> None:
    """`--fail-on never` turns a 1 into 0, and only that."""
    done = envcheck("compare", "train.json", "deploy.json", "--fail-on", level, cwd=pair)

    assert done.returncode == code
    assert done.stdout.startswith("DOES NOT CONFORM")


def test_fail_on_never_forgives_no_input_error(pair: Path) -> None:
    """An input error and an undetermined verdict keep their codes."""
    write(pair / "blank.json", {key: unknown("masked") for key in BASE})

    assert envcheck("compare", "a", "b", "--fail-on", "never", cwd=pair).returncode == 2
    done = envcheck("compare", "blank.json", "blank.json", "--fail-on=never", "--strict", cwd=pair)
    assert done.returncode == 3
    assert done.stdout.startswith("UNDETERMINED")


def test_unknown_is_not_different(pair: Path) -> None:
    """What is not known is told, and fails only under `--strict`."""
    write(pair / "masked.json", {"python.version": unknown("/proc is masked")})

    done = envcheck("compare", "train.json", "masked.json", cwd=pair)
    strict = envcheck("compare", "train.json", "masked.json", "--strict", cwd=pair)

    assert done.returncode == 0, done.stdout
    assert "not decided: " in done.stdout
    assert "/proc is masked" in done.stdout
    assert strict.returncode == 3


def test_standard_input(pair: Path) -> None:
    """`-` reads one side from a pipe."""
    text = (pair / "deploy.json").read_text()
    done = envcheck("compare", "train.json", "-", cwd=pair, input=text)

    assert done.returncode == 1
    assert "(standard input against train.json)" in done.stdout


def test_live_against_a_capture_of_the_same(tmp_path: Path) -> None:
    """This machine, now, conforms to its own capture."""
    envcheck("capture", "-o", "here.json", cwd=tmp_path)
    done = envcheck("compare", "here.json", "live", cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert "(this machine against here.json)" in done.stdout


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.in", "frozen.txt"])
def test_an_intended_environment(name: str, pair: Path) -> None:
    """A requirements file is a side: packages are compared, the rest is not known."""
    (pair / name).write_text("numpy==1.21.0\n")
    done = envcheck("compare", "train.json", name, "-v", cwd=pair)

    assert done.returncode in (0, 1), done.stderr
    assert f"({name} against train.json)" in done.stdout
    assert "intended by a requirements file" in done.stdout
    assert "1.21.0" in done.stdout


def test_swapped_sides_are_told(pair: Path) -> None:
    """The comparison runs and says that the sides look swapped; in JSON as well."""
    done = envcheck("compare", "deploy.json", "train.json", cwd=pair)
    report = json.loads(
        envcheck("compare", "deploy.json", "train.json", "--format=json", cwd=pair).stdout
    )

    assert done.returncode == 1
    assert "the two sides look swapped" in done.stdout
    assert any("look swapped" in note for note in report["notes"])
    assert "swapped" not in envcheck("compare", "train.json", "deploy.json", cwd=pair).stdout


def test_other_versions_are_told(pair: Path) -> None:
    """Fingerprints of different envcheck or schema versions are compared, with a note."""
    write(pair / "new.json", tool="envcheck 9.0")
    text = (pair / "new.json").read_text().replace("fingerprint/1", "fingerprint/1.5")
    (pair / "new.json").write_text(text)
    done = envcheck("compare", "train.json", "new.json", cwd=pair)

    words = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert "different versions (envcheck 0.1.0 and envcheck 9.0)" in words
    assert "new.json has schema envcheck.fingerprint/1.5, newer than" in words


@pytest.mark.parametrize(
    ("arguments", "environ", "colored"),
    [
        ([], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "0"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(
    arguments: list[str], environ: dict[str, str], *, colored: bool, pair: Path
) -> None:
    """The option wins over NO_COLOR, that over FORCE_COLOR, that over the terminal."""
    done = envcheck("compare", "train.json", "deploy.json", *arguments, cwd=pair, environ=environ)

    assert ("\x1b[" in done.stdout) is colored


def test_a_stream_that_knows_ascii_only(pair: Path) -> None:
    """Where stdout cannot encode arrows, plain letters stand for them."""
    write(pair / "arm.json", {"cpu.architecture": ok("aarch64")})
    done = envcheck(
        "compare", "train.json", "arm.json", cwd=pair, environ={"PYTHONIOENCODING": "ascii"}
    )

    assert done.returncode in (0, 1)
    assert done.stdout.isascii()
    assert "->" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_a_terminal(pair: Path) -> None:
    """A terminal gets colours and its own width."""
    import pty
    import subprocess
    import termios

    from tests.cli.running import PROGRAM

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 60))
    environ = {key: value for key, value in os.environ.items() if key != "TERM"}
    subprocess.run(
        [*PROGRAM, "compare", "train.json", "deploy.json"],
        cwd=pair, stdin=subprocess.DEVNULL, stdout=theirs, env={**environ, "TERM": "xterm"},
        timeout=60,
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    lines = text.decode().replace("\x1b[1;31m", "").replace("\x1b[0m", "").split("\r\n")

    assert b"\x1b[1;31mDOES NOT CONFORM:" in text
    assert max(len(line) for line in lines if "envcheck " not in line and "pip" not in line) <= 60


def test_no_dependency_is_loaded(pair: Path) -> None:
    """Comparing two files loads neither pydantic nor a framework nor the probes."""
    import subprocess
    import sys

    from tests.cli.running import PROGRAM

    code = PROGRAM[-1].replace("sys.exit(main())", "main(); print(*sys.modules, file=sys.stderr)")
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, "compare", "train.json", "deploy.json"],
        cwd=pair, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    loaded = set(done.stderr.split())

    assert "envcheck.pairing" in loaded
    assert loaded & {"pydantic", "psutil", "cpuinfo", "pip_api", "rdflib", "numpy", "rich"} == set()
    assert not any(name.startswith("envcheck.probes.") for name in loaded)


HOSTILE = "1.0\x1b[2J\u202e\u200b\nCONFORMS: no errors"


def test_hostile_values_are_shown_as_text(pair: Path) -> None:
    """No value of a file reaches the terminal as a control sequence or as a line of its own."""
    write(
        pair / "evil.json",
        {
            "python.version": ok(HOSTILE),
            "os.libc_family": unknown(HOSTILE),
            "package.numpy": ok({"version": HOSTILE, "requires": [HOSTILE, f"scipy>={HOSTILE}"]}),
            "package.pandas": ok({"version": "1.0", "requires": [f"numpy>=9; {HOSTILE}"]}),
            "env.OMP_NUM_THREADS": ok(HOSTILE),
        },
    )
    for arguments in ([], ["-v"], ["--format", "json"]):
        done = envcheck("compare", "train.json", "evil.json", *arguments, cwd=pair)
        assert done.returncode in (0, 1, 3), done.stderr
        assert not set("\x1b\u202e\u200b") & set(done.stdout)
        assert "\nCONFORMS: no errors" not in done.stdout[1:]
