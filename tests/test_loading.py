"""What may stand on a side of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from envcheck.errors import InputError
from envcheck.facts import ok
from envcheck.fingerprint import Fingerprint
from envcheck.loading import load_side

if TYPE_CHECKING:
    from pathlib import Path

HERE = Fingerprint({"os.system": ok("linux")})
LOCK = """\
lock-version = "1.0"
created-by = "test"

[[packages]]
name = "numpy"
version = "2.0.0"

[[packages.wheels]]
name = "numpy-2.0.0-cp311-cp311-manylinux_2_17_x86_64.whl"
url = "https://files.example/numpy-2.0.0-cp311-cp311-manylinux_2_17_x86_64.whl"
hashes = { sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }
"""


def test_a_fingerprint_is_itself() -> None:
    """A value that is a fingerprint already is taken as it is."""
    assert load_side(HERE) is HERE


@pytest.mark.parametrize("name", ["train.json", "train", "requirements.txt", "pylock.toml"])
def test_content_decides_for_fingerprints(name: str, tmp_path: Path) -> None:
    """A fingerprint is recognised under any name."""
    path = tmp_path / name
    HERE.write(str(path))

    assert load_side(path).facts == HERE.facts
    assert load_side(str(path)).place == str(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "numpy==2.0.0\n"),
        ("requirements-prod.txt", "numpy==2.0.0\n"),
        ("prod-requirements.txt", "numpy==2.0.0\n"),
        ("REQUIREMENTS.TXT", "numpy==2.0.0\n"),
        ("requirements.in", "numpy==2.0.0\n"),
        ("constraints.txt", "numpy==2.0.0\n"),
        ("frozen.txt", "numpy==2.0.0\n"),
        ("base.in", "numpy==2.0.0\n"),
        ("pylock.toml", LOCK),
        ("pylock.gpu.toml", LOCK),
    ],
)
def test_intended_environments(name: str, text: str, tmp_path: Path) -> None:
    """Requirements and lock files are recognised by their names."""
    path = tmp_path / name
    path.write_text(text)
    side = load_side(path)

    assert set(side.family("package")) == {"numpy"}
    assert side.place == str(path)
    assert not side.fact("python.version").is_ok


def test_live() -> None:
    """`live` is this interpreter; its facts stand in no file."""
    side = load_side("live")

    assert side.place == "live"
    assert side.fact("python.version").is_ok
    assert side.line_of("python.version") is None


def test_a_file_named_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the name `live` is reached through a path."""
    HERE.write(str(tmp_path / "live"))
    monkeypatch.chdir(tmp_path)

    assert load_side("./live").facts == HERE.facts


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04\x00", "is a zip archive"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
        (b"\x80\x04\x95", "is a pickle"),
        (b"\x1f\x8b\x08", "is compressed"),
        (b"numpy==1.0\nscipy==1.0\n", "looks like a requirements file"),
        (b"-r base.txt\n", "looks like a requirements file"),
        (b"", "is empty"),
        (b"hello", "is not JSON"),
    ],
)
def test_neither(data: bytes, words: str, tmp_path: Path) -> None:
    """A file that is neither is named for what it seems to be."""
    path = tmp_path / "x.bin"
    path.write_bytes(data)

    with pytest.raises(InputError, match=words) as caught:
        load_side(path)
    assert caught.value.hint
