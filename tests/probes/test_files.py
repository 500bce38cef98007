"""What the files probe says about declared extra files."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest
from envcheck.probes import files

from envcheck.facts import error, ok
from envcheck.probing.host import Host

if TYPE_CHECKING:
    from pathlib import Path

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def put(path: Path, data: bytes) -> str:
    """Write a file and the folders above it, and return its path as given to `--file`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def test_size_and_digest(tmp_path: Path) -> None:
    """Size and SHA-256 are those of the content, for the empty file and one over a chunk too."""
    large = os.urandom(1 << 20) * 2 + b"tail"
    given = (
        put(tmp_path / "empty.bin", b""),
        put(tmp_path / "abc.txt", b"abc"),
        put(tmp_path / "large.bin", large),
    )

    facts = files.probe(Host(files=given))

    assert facts == {
        "file.abc.txt": ok({"bytes": 3, "sha256": ABC_SHA256}),
        "file.empty.bin": ok({"bytes": 0, "sha256": EMPTY_SHA256}),
        "file.large.bin": ok({"bytes": len(large), "sha256": hashlib.sha256(large).hexdigest()}),
    }


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """Absent, a folder and a pipe are three reasons, none of which shows where it should be."""
    (tmp_path / "folder").mkdir()
    names = ["absent.txt", "folder"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        names.append("pipe")

    facts = files.probe(Host(files=[str(tmp_path / name) for name in names]))

    assert facts["file.absent.txt"] == error("does not exist")
    assert facts["file.folder"] == error("is a folder, not a file")
    if "pipe" in names:
        assert facts["file.pipe"] == error("not a regular file")
    assert str(tmp_path) not in str(facts)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """A file without permission says so."""
    path = put(tmp_path / "closed.txt", b"abc")
    (tmp_path / "closed.txt").chmod(0)

    assert files.probe(Host(files=[path])) == {"file.closed.txt": error("is not readable")}


def test_equal_names_are_told_apart_by_the_path_as_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of one name get the relative path of the command line, not folders above it."""
    monkeypatch.chdir(tmp_path)
    for folder in ("train", "deploy"):
        put(tmp_path / folder / "vocab.txt", folder.encode())
    given = ("train/vocab.txt", "./deploy/vocab.txt", "train/../train/vocab.txt")

    facts = files.probe(Host(files=given))

    assert list(facts) == ["file.deploy/vocab.txt", "file.train/vocab.txt"]
    assert facts["file.train/vocab.txt"].value["sha256"] == hashlib.sha256(b"train").hexdigest()


def test_equal_names_of_absolute_paths_are_numbered(tmp_path: Path) -> None:
    """Absolute paths would show folders, so a number in the given order tells them apart."""
    given = [put(tmp_path / folder / "vocab.txt", folder.encode()) for folder in ("b", "a", "c")]

    facts = files.probe(Host(files=given))

    assert list(facts) == ["file.vocab.txt", "file.vocab.txt#2", "file.vocab.txt#3"]
    assert facts["file.vocab.txt"].value["sha256"] == hashlib.sha256(b"b").hexdigest()
    assert facts["file.vocab.txt#2"].value["sha256"] == hashlib.sha256(b"a").hexdigest()


def test_files_of_an_image_lie_below_its_root(tmp_path: Path) -> None:
    """Under another root a path is one inside it, and a link out of it stays inside."""
    put(tmp_path / "root/app/labels.json", b"abc")
    put(tmp_path / "outside.txt", b"secret")
    (tmp_path / "root/app/escape.txt").symlink_to("../../outside.txt")

    facts = files.probe(Host(str(tmp_path / "root"), files=["/app/labels.json", "app/escape.txt"]))

    assert facts["file.labels.json"] == ok({"bytes": 3, "sha256": ABC_SHA256})
    assert facts["file.escape.txt"] == error("does not exist")


def test_names_that_no_file_of_ours_can_hold(tmp_path: Path) -> None:
    """A name that is not UTF-8 is shown as well as text can show it."""
    try:
        path = put(tmp_path / os.fsdecode(b"caf\xe9.txt"), b"abc")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes UTF-8 names only")

    assert list(files.probe(Host(files=[path]))) == ["file.caf?.txt"]


def test_no_declared_file_no_fact() -> None:
    """Without --file there is nothing to say."""
    assert files.probe(Host()) == {}
