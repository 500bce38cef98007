"""What the libc probe says about images of several distributions and this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from envcheck.probes import libc

from envcheck.facts import ok, unknown
from envcheck.probing.host import Host
from tests.probes.elf_files import elf, write_elf

if TYPE_CHECKING:
    from pathlib import Path

GLIBC_LOADER = "/lib64/ld-linux-x86-64.so.2"
MUSL_LOADER = "/lib/ld-musl-x86_64.so.1"
TEXT = b"\0GNU C Library (Debian GLIBC 2.36-9+deb12u4) stable release version 2.36.\nCopyright"


def _running_version() -> str:
    """Return what the running C library says of itself."""
    return (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ")


def image(root: Path, loader: str) -> Host:
    """Make an image with CPython 3.11 below /usr/local that names this loader."""
    write_elf(root / "usr/local/bin/python3.11", elf(loader=loader))
    (root / "usr/local/lib/python3.11").mkdir(parents=True)
    (root / "usr/local/lib/python3.11/os.py").write_text("", "utf-8")
    write_elf(root / loader.lstrip("/"), elf())
    return Host(str(root))


def test_debian_image_tells_its_version_inside_the_library(tmp_path: Path) -> None:
    """Since glibc 2.34 the file is called libc.so.6 itself; the version stands in its text."""
    host = image(tmp_path, GLIBC_LOADER)
    write_elf(tmp_path / "lib/x86_64-linux-gnu/libc.so.6", elf(), bytes(5000) + TEXT)

    facts = libc.probe(host)

    assert facts["os.libc_family"] == ok("glibc", GLIBC_LOADER)
    assert facts["os.libc_version"] == ok("2.36", "/lib/x86_64-linux-gnu/libc.so.6")


def test_older_image_tells_its_version_in_the_file_name(tmp_path: Path) -> None:
    """Up to 2.33 libc.so.6 is a link to a file that bears the version."""
    host = image(tmp_path, GLIBC_LOADER)
    write_elf(tmp_path / "lib/x86_64-linux-gnu/libc-2.31.so", elf())
    (tmp_path / "lib/x86_64-linux-gnu/libc.so.6").symlink_to("libc-2.31.so")

    assert libc.probe(host)["os.libc_version"].value == "2.31"


def test_another_architectures_library_is_not_taken(tmp_path: Path) -> None:
    """A 32-bit libc beside the 64-bit one does not give the version."""
    host = image(tmp_path, GLIBC_LOADER)
    write_elf(tmp_path / "lib/libc.so.6", elf(3, bits=32), TEXT.replace(b"2.36", b"2.17"))

    assert libc.probe(host)["os.libc_version"] == unknown("no file tells the version of glibc")


def test_alpine_image(tmp_path: Path) -> None:
    """Musl is told by the loader that the interpreter names; apk's database has the version."""
    host = image(tmp_path, MUSL_LOADER)
    (tmp_path / "lib/apk/db").mkdir(parents=True)
    (tmp_path / "lib/apk/db/installed").write_text(
        "P:busybox\nV:1.36.1-r29\n\nP:musl\nV:1.2.5-r0\nT:the musl c library\n\nP:musl-utils\n"
        "V:1.2.6-r9\n",
        "utf-8",
    )

    facts = libc.probe(host)

    assert facts["os.libc_family"] == ok("musl", MUSL_LOADER)
    assert facts["os.libc_version"] == ok("1.2.5", "/lib/apk/db/installed")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x001.2.4\x00x", ok("1.2.4", MUSL_LOADER)),
        (b"\x001.2.4\x001.2.5\x00", unknown("no file tells the version of musl")),  # which one?
        (b"\x00no number\x00", unknown("no file tells the version of musl")),
    ],
)
def test_musl_without_apk(tmp_path: Path, content: bytes, expected: object) -> None:
    """Without a package database the loader's own version text counts, if it is the only one."""
    host = image(tmp_path, MUSL_LOADER)
    write_elf(tmp_path / MUSL_LOADER.lstrip("/"), elf(), content)

    assert libc.probe(host)["os.libc_version"] == expected


def test_musl_beside_glibc_does_not_confuse(tmp_path: Path) -> None:
    """Debian can have musl installed too; the interpreter's own loader decides."""
    host = image(tmp_path, GLIBC_LOADER)
    write_elf(tmp_path / MUSL_LOADER.lstrip("/"), elf())

    assert libc.probe(host)["os.libc_family"].value == "glibc"


def test_without_an_interpreter_the_only_loader_decides(tmp_path: Path) -> None:
    """An image without Python has the family of its loader; with two it is unknown."""
    write_elf(tmp_path / MUSL_LOADER.lstrip("/"), elf())
    assert libc.probe(Host(str(tmp_path)))["os.libc_family"].value == "musl"

    write_elf(tmp_path / GLIBC_LOADER.lstrip("/"), elf())
    found = libc.probe(Host(str(tmp_path)))["os.libc_family"]
    assert found == unknown("loaders of glibc and musl are there")


def test_libraries_are_found_where_the_loader_looks(tmp_path: Path) -> None:
    """Standard folders, folders of ld.so.cache and LD_LIBRARY_PATH count; others do not."""
    image(tmp_path, GLIBC_LOADER)
    places = {
        "usr/lib/x86_64-linux-gnu/libgomp.so.1": elf(),
        "opt/nvidia/lib/libcuda.so.1": elf(),  # in the cache
        "srv/lib/libcudnn.so.9": elf(),  # in LD_LIBRARY_PATH
        "opt/hidden/libGL.so.1": elf(),  # nowhere
        "usr/lib/i386-linux-gnu/libsndfile.so.1": elf(3, bits=32),  # in the cache, 32 bit
        "usr/lib/libstdc++.so.6": elf(183),  # of another architecture
    }
    for place, data in places.items():
        write_elf(tmp_path / place, data)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.cache").write_bytes(
        b"glibc-ld.so.cache1.1\0\0\0libcuda.so.1\0/opt/nvidia/lib/libcuda.so.1\0"
        b"libsndfile.so.1\0/usr/lib/i386-linux-gnu/libsndfile.so.1\0"
        b"libglib-2.0.so.0\0/gone/libglib-2.0.so.0\0"
    )
    host = Host(str(tmp_path), environ={"LD_LIBRARY_PATH": "relative:/srv/lib:"})

    found = libc.probe(host)["os.system_libraries"]

    assert found == ok(["libcuda.so.1", "libcudnn.so.9", "libgomp.so.1"])


def test_nothing_is_guessed_for_an_empty_folder(empty: Host) -> None:
    """An empty root has no C library, no version and no folder to look into."""
    assert {fact.state for fact in libc.probe(empty).values()} == {"unknown"}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this machine has no glibc")
def test_this_machine() -> None:
    """On this machine the version is the running library's."""
    facts = libc.probe(Host())

    assert facts["os.libc_family"] == ok("glibc", "confstr")
    assert facts["os.libc_version"].value == _running_version()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this machine has no glibc")
def test_the_files_of_this_machine_say_what_it_says_itself() -> None:
    """Reading this machine's root as if it were an image gives the same C library."""
    host = Host("/", live=False)
    facts = libc.probe(host)

    assert facts["os.libc_family"].value == "glibc"
    assert facts["os.libc_version"].value == _running_version()


@pytest.mark.skipif(shutil.which("ldconfig", path="/sbin:/usr/sbin") is None, reason="no ldconfig")
def test_libraries_of_this_machine_agree_with_ldconfig() -> None:
    """What ldconfig lists for this architecture is found without running it."""
    tool = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    assert tool is not None
    listed = subprocess.run([tool, "-p"], capture_output=True, text=True, check=True).stdout
    named = {line.split()[0] for line in listed.splitlines() if "=>" in line}

    found = libc.probe(Host(environ={}, live=True))["os.system_libraries"].value

    assert set(found) == named.intersection(libc.LIBRARIES)
