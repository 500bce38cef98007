"""Whatever is given to `compare`, it answers with one clear message and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.facts import ok
from envcheck.fingerprint import Fingerprint
from tests.cli.running import PROGRAM, envcheck, only_message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = Fingerprint({"os.system": ok("linux"), "package.numpy": ok({"version": "2.0.0"})})
DOCUMENT = GOOD.to_json()
TEXT = GOOD.to_text()


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a fingerprint that can be read."""
    path = tmp_path / "good.json"
    path.write_text(TEXT)
    return path


def changed(**changes: Any) -> str:
    """Return the text of a fingerprint with some members changed."""
    return json.dumps({**DOCUMENT, **changes})


def fact(value: Any, key: str = "package.numpy") -> str:
    """Return the text of a fingerprint with one fact of this value."""
    return changed(facts={key: {"state": "ok", "value": value}})


TEXTS = {
    "empty": ("", "bad.json: is empty"),
    "blank": (" \n\n", "bad.json: is empty"),
    "truncated": (TEXT[:-20], "bad.json:6: ends too early"),
    "newer": (changed(schema="envcheck.fingerprint/2"), "this envcheck reads"),
    "older": (changed(schema="envcheck.fingerprint/0"), "this envcheck reads"),
    "unknown schema": (changed(schema="acme.bom/1"), "is not a fingerprint"),
    "report": (changed(schema="envcheck.report/1"), "is not a fingerprint"),
    "wrong type": (fact({"requires": ["a", 5]}), 'facts["package.numpy"].value.requires[1]'),
    "wrong state": (changed(facts={"os.system": {"state": "good"}}), "is none of ok"),
    "twice at the top": (TEXT.replace('"envelope"', '"schema"'), ':3: key "schema" stands twice'),
    "twice in facts": (
        TEXT.replace('"os.system"', '"package.numpy"'),
        ':6: key "package.numpy" stands twice',
    ),
    "twice deep inside": (fact({}).replace("{}", '{"a": 1, "a": 2}'), 'key "a" stands twice'),
    "nan": (fact(float("nan"), "limits.cpu_quota"), "NaN is no JSON number"),
    "infinity": (fact(float("inf"), "limits.cpu_quota"), "Infinity is no JSON number"),
    "huge float": (fact(0).replace("0}", "1e999}"), "1e999 is larger"),
    "huge integer": (fact(0).replace("0}", "9" * 9000 + "}"), "is larger than any number"),
    "deep": (fact(0).replace("0}", "[" * 100_000), "is nested too deeply"),
    "deep and whole": (fact(0, "a.b").replace("0}", "[" * 99 + "]" * 99 + "}"), "nested deeper"),
    "control character": (fact({}, "package.a\x1b[2Jb"), r"a\u001b[2Jb"),
    "bidi character": (fact({}, "package.a\u202eb"), r"a\u202eb"),
    "empty object": ("{}", 'no "schema"'),
    "list": ("[1]", "holds a list"),
    "no facts": (changed(facts=None), 'no "facts"'),
    "words": ("hello world", "is not JSON"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_unusable_texts(name: str, good: Path, tmp_path: Path) -> None:
    """Text that is no usable fingerprint is refused on either side."""
    text, expected = TEXTS[name]
    (tmp_path / "bad.json").write_text(text, "utf-8")

    first = only_message(envcheck("compare", "bad.json", good, cwd=tmp_path))
    second = only_message(envcheck("compare", good, "bad.json", cwd=tmp_path))

    assert expected in first
    assert first == second
    assert len(first) < 500


BYTES = {
    "utf-8": (b'{"schema": "\xff"}', "is not UTF-8 text (byte 12)"),
    "utf-16": (TEXT.encode("utf-16"), "is UTF-16 text"),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(99), "is a program"),
    "archive": (b"PK\x03\x04" + bytes(99), "is a zip archive"),
    "noise": (bytes(range(256)) * 9, "is not UTF-8 text"),
    "zeros": (bytes(5000), "is not JSON"),
}


@pytest.mark.parametrize("name", BYTES)
def test_unusable_bytes(name: str, good: Path, tmp_path: Path) -> None:
    """A file that is no text at all is named for what it is, where that is known."""
    data, expected = BYTES[name]
    (tmp_path / "bad.json").write_bytes(data)

    assert expected in only_message(envcheck("compare", good, "bad.json", cwd=tmp_path))


def sparse(path: Path) -> None:
    """Make a file of 200 MB that takes no space."""
    with path.open("wb") as file:
        file.truncate(200_000_000)


OTHER = {
    "missing": (lambda _path: None, "no such file"),
    "folder": (lambda path: path.mkdir(), "is a folder, not a file"),
    "large": (sparse, "has 200,000,000 bytes; at most 32 MiB are read"),
    "loop": (lambda path: path.symlink_to(path), "too many levels"),
}


@pytest.mark.parametrize("name", OTHER)
def test_unusable_files(name: str, good: Path, tmp_path: Path) -> None:
    """What cannot be opened as a file of reasonable size is refused."""
    make, expected = OTHER[name]
    call: Callable[[Path], Any] = make
    call(tmp_path / "bad.json")

    done = envcheck("compare", good, "bad.json", cwd=tmp_path)

    assert expected in only_message(done)


def test_name_that_no_file_can_have(good: Path) -> None:
    """An empty name is a usage error like any other."""
    assert "no such file" in only_message(envcheck("compare", good, ""))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root becomes nobody")
def test_unreadable_file(good: Path) -> None:
    """A file that this user may not read is refused with what to check."""
    good.chmod(0)
    leave = (
        "import os, locale, tomllib, envcheck.cli.compare, envcheck.cli.entry;"
        "os.setgid(65534); os.setuid(65534)"
    )
    code = PROGRAM[-1].replace("from envcheck.cli", f"{leave}\nfrom envcheck.cli")
    done = subprocess.run(
        [*PROGRAM[:-1], code, "compare", str(good), "live"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert "permission denied" in only_message(done)


def test_standard_input_twice() -> None:
    """`-` cannot stand on both sides."""
    assert "can be read once" in only_message(envcheck("compare", "-", "-", input=TEXT))


def test_standard_input_that_is_empty(good: Path) -> None:
    """An empty standard input, as after a failed capture in a pipe, is an input error."""
    assert "standard input: is empty" in only_message(envcheck("compare", good, "-", input=""))


def test_standard_input_that_is_closed(good: Path) -> None:
    """A closed standard input is an input error."""
    command = f"exec {' '.join(map(quote, [*PROGRAM, 'compare', str(good), '-']))} <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)

    assert "standard input: is closed" in only_message(done)


def quote(word: str) -> str:
    """Return a word quoted for a shell."""
    return "'" + word.replace("'", "'\\''") + "'"


def test_a_fingerprint_with_the_name_of_a_requirements_file(tmp_path: Path) -> None:
    """Content decides: a broken fingerprint named requirements.txt is a broken fingerprint."""
    (tmp_path / "requirements.txt").write_text('{"schema": "envcheck.fingerprint/1", "facts": 5}')

    done = envcheck("compare", "requirements.txt", "live", cwd=tmp_path)

    assert "facts: a number, not an object" in only_message(done)


def test_requirements_with_the_name_of_a_fingerprint(good: Path, tmp_path: Path) -> None:
    """A requirements file that is not named so is recognised, and the message says how to go on."""
    (tmp_path / "train.json").write_text("numpy==2.0.0\npandas==2.2.0\n")

    done = envcheck("compare", "train.json", good, cwd=tmp_path)

    assert "looks like a requirements file" in only_message(done)


@pytest.mark.parametrize("name", ["poetry.lock", "uv.lock", "environment.yml", "pyproject.toml"])
def test_files_of_other_tools(name: str, good: Path, tmp_path: Path) -> None:
    """Files that people try get the command that makes one we read."""
    (tmp_path / name).write_text("anything = 1\n")

    assert "make one with: " in only_message(envcheck("compare", name, good, cwd=tmp_path))


def test_hostile_file_names(tmp_path: Path) -> None:
    """A file name cannot smuggle control characters into a message."""
    name = "a\x1b[2J\u202eb\nhint: none.json"

    message = only_message(envcheck("compare", name, "live", cwd=tmp_path))

    assert r"a\x1b[2J\u202eb\nhint: none.json: no such file" in message


def test_empty_facts_are_never_a_pass(good: Path, tmp_path: Path) -> None:
    """A fingerprint without facts means that nothing was checked: exit code 3."""
    (tmp_path / "none.json").write_text(Fingerprint({}).to_text())

    done = envcheck("compare", good, "none.json", cwd=tmp_path)

    assert "none.json: holds no facts" in only_message(done, code=3)
