"""One meaning, several spellings."""

from __future__ import annotations

import pytest

from envcheck.comparing.spellings import (
    architecture,
    encoding,
    python_version,
    same_text,
    timezone,
    unordered,
)


@pytest.mark.parametrize(
    "names",
    [("x86_64", "AMD64", "x64", "x86-64"), ("aarch64", "arm64", "ARM64"), ("x86", "i386", "i686")],
)
def test_architectures(names: tuple[str, ...]) -> None:
    """What Linux, Windows and macOS call one architecture is one."""
    assert len({architecture(name) for name in names}) == 1


def test_architectures_stay_apart() -> None:
    """Others are not touched."""
    assert len({architecture(name) for name in ("x86_64", "aarch64", "x86", "riscv64")}) == 4


@pytest.mark.parametrize("name", ["UTC", "utc", "Etc/UTC", "GMT", "Zulu", "Universal", "+00:00"])
def test_names_of_utc(name: str) -> None:
    """All names of UTC are one; London, which has a summer time, is not."""
    assert timezone(name) == timezone("UTC") != timezone("Europe/London")


@pytest.mark.parametrize(
    ("left", "right"),
    [("UTF-8", "utf8"), ("utf_8", "UTF-8"), ("ANSI_X3.4-1968", "us-ascii"), ("cp1252", "CP1252"),
     ("latin-1", "ISO-8859-1")],
)  # fmt: skip
def test_encodings(left: str, right: str) -> None:
    """An encoding is known by what it does, not by its name."""
    assert encoding(left) == encoding(right)


def test_encodings_stay_apart() -> None:
    """Also those that Python has never heard of."""
    assert len({encoding(name) for name in ("utf-8", "ascii", "cp1252", "x-klingon", "\0")}) == 5


@pytest.mark.parametrize(
    ("spelled", "release"),
    [("3.11.7", "3.11.7"), ("3.13.0+", "3.13.0"), ("3.14.0rc2", "3.14.0"), ("junk", "junk")],
)
def test_python_versions(spelled: str, release: str) -> None:
    """A pre-release and a build from a branch count as their release."""
    assert python_version(spelled) == release


def test_text_and_lists() -> None:
    """Case and outer space do not count in text, nor order in lists."""
    assert same_text(" Linux ") == same_text("linux")
    assert same_text(3) == 3
    assert unordered(["b", "a"]) == unordered(["a", "b"])
