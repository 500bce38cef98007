"""What the os_release probe says about recorded hosts, images and this machine."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from envcheck.probes import os_release

from envcheck.facts import Fact, not_applicable, ok, unknown
from envcheck.probing.host import Host

if TYPE_CHECKING:
    from collections.abc import Callable

ETC = "/etc/os-release"


@pytest.mark.parametrize(
    ("host", "identity", "version"),
    [
        ("kubernetes-v2", ok("debian", ETC), ok("12", ETC)),  # through a link, quoted
        ("docker-v1", ok("ubuntu", ETC), ok("20.04", ETC)),
        ("desktop-v2-nested", ok("fedora", ETC), ok("40", ETC)),  # unquoted
        ("hybrid-unlimited", ok("arch", ETC), not_applicable("/etc/os-release has no VERSION_ID")),
        ("damaged", ok("linux", ETC), not_applicable("/etc/os-release has no VERSION_ID")),
        ("gpu-t4", unknown(f"{ETC} does not exist"), unknown(f"{ETC} does not exist")),
    ],
)
def test_release(recorded: Callable[..., Host], host: str, identity: Fact, version: Fact) -> None:
    """ID and VERSION_ID come from os-release, whatever its quoting; a rolling release has none."""
    facts = os_release.probe(recorded(host))

    assert facts["os.release_id"] == identity
    assert facts["os.release_version"] == version


def test_release_lies_under_usr_lib_where_etc_has_none(tmp_path: Path) -> None:
    """An image without /etc/os-release is read from /usr/lib, as the specification says."""
    path = tmp_path / "usr/lib/os-release"
    path.parent.mkdir(parents=True)
    path.write_text('ID="sles"\nVERSION_ID="15.6"\n', "utf-8")

    facts = os_release.probe(Host(str(tmp_path)))

    assert facts["os.release_id"] == ok("sles", "/usr/lib/os-release")
    assert facts["os.release_version"] == ok("15.6", "/usr/lib/os-release")
    assert facts["os.system"] == ok("linux", "/usr/lib/os-release")


@pytest.mark.parametrize(
    ("host", "kernel"),
    [
        ("kubernetes-v2", ok("6.1.0-28-cloud-amd64", "/proc/sys/kernel/osrelease")),
        ("gvisor", ok("4.4.0", "/proc/sys/kernel/osrelease")),
        ("gpu-t4", unknown("an image has no kernel of its own")),
    ],
)
def test_kernel(recorded: Callable[..., Host], host: str, kernel: Fact) -> None:
    """The kernel is the one that the files name; an image has none."""
    assert os_release.probe(recorded(host))["os.kernel_release"] == kernel


def test_kernel_from_the_version_text(tmp_path: Path) -> None:
    """Where only /proc/version can be read, its third word is the release."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/version").write_text("Linux version 5.15.0-91-generic (x@y) #101\n", "utf-8")

    found = os_release.probe(Host(str(tmp_path)))["os.kernel_release"]

    assert found == ok("5.15.0-91-generic", "/proc/version")


@pytest.mark.parametrize(
    ("host", "environ", "markers"),
    [
        ("docker-v1", {}, ok(["/.dockerenv", "cgroup:containerd", "cgroup:docker"])),
        ("kubernetes-v2", {}, ok([])),  # a cgroup namespace hides the engine's name
        (
            "kubernetes-v2",
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "container": "podman"},
            ok(["KUBERNETES_SERVICE_HOST", "container=podman"]),
        ),
        ("desktop-v2-nested", {"container": "alices-laptop"}, ok([])),
        ("gpu-t4", None, unknown("an image does not tell where it will run")),
    ],
)
def test_container_markers(
    recorded: Callable[..., Host], host: str, environ: dict[str, str] | None, markers: Fact
) -> None:
    """Markers are listed by name; values that could tell something are not."""
    assert os_release.probe(recorded(host, environ))["os.container"] == markers


@pytest.mark.parametrize(
    ("host", "environ", "sandbox"),
    [
        ("gvisor", {}, ok("gvisor")),
        ("kubernetes-v2", {}, ok("none")),
        ("graviton-lambda", {"AWS_LAMBDA_FUNCTION_NAME": "score"}, ok("lambda")),
        ("graviton-lambda", {"AWS_EXECUTION_ENV": "AWS_Lambda_python3.12"}, ok("lambda")),
        ("graviton-lambda", {"AWS_EXECUTION_ENV": "AWS_ECS_FARGATE"}, ok("none")),
        ("gpu-t4", {}, unknown("an image has no kernel of its own")),
    ],
)
def test_sandbox(
    recorded: Callable[..., Host], host: str, environ: dict[str, str], sandbox: Fact
) -> None:
    """The sandbox is told by its fixed kernel or by its variables, and by nothing weaker."""
    assert os_release.probe(recorded(host, environ))["os.sandbox"] == sandbox


def test_a_real_kernel_4_4_is_no_sandbox(tmp_path: Path) -> None:
    """Release 4.4.0 alone says nothing: distributions shipped that kernel too."""
    kernel = tmp_path / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    (kernel / "osrelease").write_text("4.4.0\n", "utf-8")
    (tmp_path / "proc/version").write_text("Linux version 4.4.0 (me@here) #1 SMP 2017\n", "utf-8")

    assert os_release.probe(Host(str(tmp_path)))["os.sandbox"] == ok("none")


def test_nothing_is_guessed_for_an_empty_folder(empty: Host) -> None:
    """An empty root is not called Linux, nor anything else."""
    assert {fact.state for fact in os_release.probe(empty).values()} == {"unknown"}


@pytest.mark.skipif(platform.system() != "Linux", reason="compares with Linux")
def test_this_machine() -> None:
    """On this machine the answers are those of `platform`."""
    facts = os_release.probe(Host())

    assert facts["os.system"] == ok("linux")
    assert facts["os.kernel_release"] == ok(platform.release())
    if Path(ETC).exists():
        assert facts["os.release_id"].value == platform.freedesktop_os_release()["ID"]
