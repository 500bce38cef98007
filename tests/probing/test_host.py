"""A host with a root of its own: nothing outside the root is ever read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envcheck.probing.host import READ_LIMIT, Host, PathEscape

SECRET = "outside the root"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a root beside a file that must not be read through it."""
    (tmp_path / "outside.txt").write_text(SECRET, "utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text(SECRET, "utf-8")
    inside = tmp_path / "root"
    (inside / "etc").mkdir(parents=True)
    (inside / "etc/name").write_text("inside", "utf-8")
    return inside


def test_absolute_links_stay_inside(root: Path) -> None:
    """A link to /etc/name means the root's own /etc/name, as after a chroot."""
    (root / "link").symlink_to("/etc/name")
    (root / "folder").symlink_to("/etc")

    host = Host(str(root))

    assert host.read("/link") == "inside"
    assert host.read("/folder/name") == "inside"
    assert host.listdir("/folder") == ["name"]


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("a", "../outside.txt", "/a"),
        ("a", "../../../../../../outside.txt", "/a"),
        ("etc/a", "../../outside.txt", "/etc/a"),
        ("d", "..", "/d/outside.txt"),
        ("d", "../outside", "/d/file"),
        ("d", "etc/../../outside", "/d/file"),
        ("d", "/../outside", "/d/file"),
    ],
)
def test_links_that_climb_stay_inside(root: Path, link: str, target: str, path: str) -> None:
    """However a link climbs, it ends at the root."""
    (root / link).symlink_to(target)
    host = Host(str(root))

    assert host.read(path) is None
    assert not host.exists(path)
    assert host.listdir(path) is None


@pytest.mark.parametrize(
    "path", ["/../outside.txt", "../outside.txt", "/etc/../../outside.txt", "//..//outside.txt"]
)
def test_paths_that_climb_stay_inside(root: Path, path: str) -> None:
    """The same for paths that a probe or a metadata file names."""
    assert Host(str(root)).read(path) is None


def test_an_absolute_link_of_this_machine_stays_inside(root: Path, tmp_path: Path) -> None:
    """A link to the real place of a file outside the root leads nowhere."""
    (root / "leak").symlink_to(tmp_path / "outside.txt")
    (root / "leaks").symlink_to(tmp_path / "outside")

    host = Host(str(root))

    assert host.read("/leak") is None
    assert host.read("/leaks/file") is None


def test_loops_end(root: Path) -> None:
    """Links that lead in circles are no file, and say so."""
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to("self/self")
    host = Host(str(root))

    for path in ("/a", "/self", "/a/b/c"):
        assert host.read(path) is None
        assert not host.exists(path)
        assert not host.is_dir(path)
        assert host.listdir(path) is None
        assert "cannot be read" in host.why_not(path)
    with pytest.raises(PathEscape):
        host.path("/a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_and_folders_are_not_read(root: Path) -> None:
    """Only regular files are opened: a pipe would block and a device may act."""
    os.mkfifo(root / "pipe")
    host = Host(str(root))

    assert host.read("/pipe") is None
    assert host.why_not("/pipe") == "/pipe is not a regular file"
    assert host.read("/etc") is None
    assert host.why_not("/etc") == "/etc is a folder"
    with pytest.raises(OSError, match="not a regular file"):
        host.open_binary("/pipe")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
def test_an_endless_device_is_not_read() -> None:
    """On this machine too a device is no file."""
    assert Host().read("/dev/zero") is None


def test_a_zero_byte_in_a_name_is_no_crash(root: Path) -> None:
    """Names come from files of other machines and may hold anything."""
    for host in (Host(str(root)), Host()):
        assert host.read("/etc/\0name") is None
        assert host.listdir("/etc\0") is None
        assert not host.exists("/\0")
        assert not host.is_dir("/\0")
        assert "cannot be read" in host.why_not("/\0")


def test_reading_is_bounded(root: Path) -> None:
    """A file is read up to the limit and no further, however many reads that takes."""
    (root / "big").write_bytes(b"x" * (3 * READ_LIMIT))
    host = Host(str(root))

    assert len(host.read_bytes("/big") or b"") == READ_LIMIT
    assert len(host.read_bytes("/big", 10) or b"") == 10
    assert len(host.read_bytes("/big", 5 * READ_LIMIT) or b"") == 3 * READ_LIMIT


def test_text_of_any_bytes(root: Path) -> None:
    """Bytes that are no UTF-8 are replaced."""
    (root / "bytes").write_bytes(b"a\xff\xfeb")

    assert Host(str(root)).read("/bytes") == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}b"


def test_what_is_live(root: Path) -> None:
    """This machine is live and knows its variables; an image is not and does not."""
    assert Host().live
    assert Host().knows_environ
    image = Host(str(root))
    assert not image.live
    assert not image.knows_environ
    assert dict(image.environ) == {}
    assert Host(str(root), environ={}).knows_environ


@pytest.mark.parametrize("root_path", ["/", "//", "/.", "/etc/.."])
def test_spellings_of_this_machine(root_path: str) -> None:
    """The root of this machine may be written in several ways."""
    if os.sep != "/":
        pytest.skip("POSIX paths")
    host = Host(root_path)

    assert host.live
    assert host.path("/etc") == "/etc"
