"""`envcheck capture`, as a process."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.fingerprint.reading import read_fingerprint
from tests.cli.running import PROGRAM, envcheck, only_message

if TYPE_CHECKING:
    from tests.conftest import Interpreters


def facts_of(path: Path) -> dict[str, Any]:
    """Return the facts of a file."""
    facts: dict[str, Any] = json.loads(path.read_text("utf-8"))["facts"]
    return facts


def test_stdout_is_the_fingerprint_and_stderr_the_summary() -> None:
    """Without `-o` the fingerprint is all there is on stdout."""
    done = envcheck("capture", "--role", "train")

    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["envelope"]["role"] == "train"
    assert set(document["envelope"]) == {"created", "role", "tool"}
    assert done.stderr.startswith("captured CPython 3.")
    assert f"{len(document['facts'])} facts" in done.stderr
    assert envcheck("capture", "-q").stderr == ""


def test_file_and_stdout_are_the_same(tmp_path: Path) -> None:
    """`-o` writes what stdout would have had, and says so."""
    done = envcheck("capture", "-o", "a.json", cwd=tmp_path)
    other = envcheck("capture", "-o", "-", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote a.json" in done.stderr
    assert facts_of(tmp_path / "a.json") == json.loads(other.stdout)["facts"]
    assert sorted(os.listdir(tmp_path)) == ["a.json"]


def test_two_captures_differ_in_the_envelope_only(tmp_path: Path) -> None:
    """The same machine gives the same lines but for the one with the time."""
    for name in ("a", "b"):
        envcheck("capture", "-o", f"{name}.json", "--role", "train", cwd=tmp_path)
    first, second = ((tmp_path / f"{name}.json").read_text().splitlines() for name in ("a", "b"))

    assert len(first) == len(second)
    differing = [index for index, line in enumerate(first) if line != second[index]]
    assert differing in ([], [2])


def test_the_working_folder_does_not_matter(tmp_path: Path) -> None:
    """Captures from two folders, one of them read-only and full of decoys, are the same."""
    decoys = tmp_path / "decoys"
    (decoys / "numpy-99.dist-info").mkdir(parents=True)
    (decoys / "numpy-99.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 99\n")
    (decoys / "json.py").write_text("raise SystemExit(1)\n")
    decoys.chmod(0o555)
    texts = [
        json.loads(envcheck("capture", cwd=folder).stdout)["facts"] for folder in ("/", decoys)
    ]

    assert texts[0] == texts[1]


def test_writes_nothing_else(tmp_path: Path, root: Path) -> None:
    """Under `python -B` no byte code is written, and nothing in the home folder."""
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import envcheck\n"
        "from envcheck.cli import main; sys.exit(main())"
    )
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, source in (("envcheck", "envcheck"), ("envcheck/probes", "probes")):
        subprocess.run(["cp", "-r", str(root / source), str(copy / name)], check=True)
    subprocess.run(["find", str(copy), "-name", "__pycache__", "-exec", "rm", "-r", "{}", "+"])
    (tmp_path / "home").mkdir()
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    done = subprocess.run(
        [PROGRAM[0], "-B", "-I", "-c", code, str(copy), "capture"],
        capture_output=True, text=True, timeout=60, cwd="/",
        env={"HOME": str(tmp_path / "home")},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_declared_files(tmp_path: Path) -> None:
    """`--file` records a file; naming one twice or a missing one is no failure."""
    (tmp_path / "labels.txt").write_text("a\nb\n")
    done = envcheck(
        "capture", "-o", "x.json", "--file", "labels.txt", "--file", "none.txt", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    facts = facts_of(tmp_path / "x.json")
    assert facts["file.labels.txt"]["value"]["bytes"] == 4
    assert facts["file.none.txt"]["state"] != "ok"
    assert str(tmp_path) not in (tmp_path / "x.json").read_text()


def test_another_interpreter(interpreters: Interpreters, tmp_path: Path) -> None:
    """`--python` captures another CPython without touching it."""
    done = envcheck("capture", "--python", interpreters["3.9"], "-o", "x.json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert facts_of(tmp_path / "x.json")["python.version"]["value"].startswith("3.9.")


def test_runs_on_an_old_python(interpreters: Interpreters, tmp_path: Path) -> None:
    """`capture` itself runs on CPython 3.9; the other commands say that they do not."""
    program = [str(interpreters["3.9"]), "-B", *PROGRAM[2:]]
    captured = subprocess.run(
        [*program, "capture", "-o", "x.json"], cwd=tmp_path, capture_output=True, text=True
    )
    compared = subprocess.run(
        [*program, "compare", "a", "b"], cwd=tmp_path, capture_output=True, text=True
    )

    assert captured.returncode == 0, captured.stderr
    assert facts_of(tmp_path / "x.json")["python.version"]["value"].startswith("3.9.")
    assert "needs Python 3.11 or newer, this is 3.9" in only_message(compared)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--python", "./nope"], "./nope: does not exist"),
        (["--root", "./nope"], "./nope: does not exist"),
        (["--root", "file"], "file: is no folder"),
        (["--root", "/", "--python", "python"], "exclude each other"),
    ],
)
def test_nothing_to_look_at(arguments: list[str], expected: str, tmp_path: Path) -> None:
    """An interpreter or image that is not there is an input error."""
    (tmp_path / "file").touch()

    assert expected in only_message(envcheck("capture", *arguments, cwd=tmp_path))


def test_an_empty_image_is_no_capture(tmp_path: Path) -> None:
    """Where not one fact can be found out nothing is written, and the exit code is 3."""
    (tmp_path / "image").mkdir()

    done = envcheck("capture", "--root", "image", "-o", "x.json", cwd=tmp_path)

    assert "not a single fact" in only_message(done, code=3)
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("folder", "folder: is a folder; a file is needed"),
        ("folder/", "is a folder; a file is needed"),
        ("none/x.json", "none/x.json: cannot be written: No such file or directory"),
        ("old.json/x.json", "cannot be written: Not a directory"),
        ("/proc/x.json", "/proc/x.json: cannot be written"),
        ("/dev/full", "/dev/full: cannot be written: No space left on device"),
        ("x" * 300, "cannot be written: File name too long"),
        ("", "the name of the output file is empty"),
    ],
)
def test_output_that_cannot_be_written(target: str, expected: str, tmp_path: Path) -> None:
    """Each way in which `-o` fails is one clear error, and no file changes."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.json").write_text("old")

    done = envcheck("capture", "-o", target, cwd=tmp_path)

    assert expected in only_message(done)
    assert (tmp_path / "old.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["folder", "old.json"]
    assert os.listdir(tmp_path / "folder") == []


def test_special_files_can_be_written() -> None:
    """`/dev/null` and other devices are written to, not replaced."""
    assert envcheck("capture", "-o", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    """A capture of this machine reads back, and writes back to the same bytes."""
    path = tmp_path / "x.json"
    envcheck("capture", "-o", path)

    assert read_fingerprint(str(path)).to_text() == path.read_text("utf-8")
