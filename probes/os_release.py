"""The operating system, its release, its kernel, and signs of a container or a sandbox."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown
from envcheck.probing.machine import loaders

if TYPE_CHECKING:
    from envcheck.probing.host import Host

RELEASE_FILES = ("/etc/os-release", "/usr/lib/os-release")
MAC_VERSION = "/System/Library/CoreServices/SystemVersion.plist"
CGROUP = "/proc/self/cgroup"

_SYSTEMS = {"win32": "windows", "cygwin": "windows"}
_MARKER_FILES = ("/.dockerenv", "/run/.containerenv")
_MARKER_VARIABLES = ("ECS_CONTAINER_METADATA_URI_V4", "KUBERNETES_SERVICE_HOST")
_ENGINES = ("docker", "kube", "lxc", "oci", "podman", "systemd-nspawn", "wsl")
"""Values of the variable `container` by which engines name themselves."""
_CGROUP_WORDS = ("containerd", "crio", "docker", "ecs", "kubepods", "libpod", "lxc")
_GVISOR_RELEASE = "4.4.0"
_GVISOR_BUILD = "Jan 10 15:06:54 PST 2016"
"""The kernel that gVisor shows whatever the host's is."""


def probe(host: Host) -> Facts:
    """Return what is known of the operating system."""
    identity, version = _release(host)
    release, build = _kernel(host)
    return {
        "os.system": _system(host),
        "os.release_id": identity,
        "os.release_version": version,
        "os.kernel_release": release,
        "os.container": _container(host),
        "os.sandbox": _sandbox(host, release, build),
    }


def _system(host: Host) -> Fact:
    if host.live:
        name = _SYSTEMS.get(host.system, host.system)
        return ok(name.rstrip("0123456789."))
    for path in RELEASE_FILES:
        if host.exists(path):
            return ok("linux", path)
    kind = (host.read("/proc/sys/kernel/ostype", 64) or "").strip().lower()
    if kind:
        return ok(kind, "/proc/sys/kernel/ostype")
    for path in loaders(host):
        return ok("linux", path)
    return unknown("neither os-release nor a dynamic loader lies below the root")


def _release(host: Host) -> tuple[Fact, Fact]:
    """Return ID and VERSION_ID of os-release, or what stands for them on other systems."""
    if host.system == "darwin":
        return ok("macos"), _mac_version(host)
    if host.system == "win32":
        return ok("windows"), _windows_version()
    for path in RELEASE_FILES:
        text = host.read(path)
        if text is None:
            continue
        fields = _fields(text)
        version = fields.get("VERSION_ID")
        return (
            ok(fields.get("ID") or "linux", path),
            ok(version, path) if version else not_applicable(f"{path} has no VERSION_ID"),
        )
    reason = unknown(host.why_not(RELEASE_FILES[0]))
    return reason, reason


def _fields(text: str) -> dict[str, str]:
    """Return the assignments of os-release(5), unquoted as a shell would."""
    out: dict[str, str] = {}
    for line in text.splitlines():
        key, sep, value = line.strip().partition("=")
        if not sep or key.startswith("#"):
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            quote, value = value[0], value[1:-1]
            if quote == '"' and "\\" in value:
                for char in '"$`\\':
                    value = value.replace("\\" + char, char)
        out[key] = value
    return out


def _mac_version(host: Host) -> Fact:
    text = host.read(MAC_VERSION) or ""
    version = text.partition("<key>ProductVersion</key>")[2].partition("<string>")[2]
    version = version.partition("</string>")[0].strip()
    return ok(version, MAC_VERSION) if version else unknown(host.why_not(MAC_VERSION))


def _windows_version() -> Fact:
    ask = getattr(sys, "getwindowsversion", None)
    if ask is None:
        return unknown("the system does not say")
    found = ask()
    return ok(f"{found.major}.{found.minor}.{found.build}")


def _kernel(host: Host) -> tuple[Fact, str]:
    """Return the release of the kernel, and the text on how it was built."""
    if host.live and hasattr(os, "uname"):
        names = os.uname()
        return ok(names.release), names.version
    if host.live:
        return not_applicable("Windows has no kernel release apart from its version"), ""
    release = (host.read("/proc/sys/kernel/osrelease", 256) or "").strip()
    version = (host.read("/proc/version", 4096) or "").strip()
    if release:
        return ok(release, "/proc/sys/kernel/osrelease"), version
    words = version.split()
    if words[:2] == ["Linux", "version"] and len(words) > 2:
        return ok(words[2], "/proc/version"), version
    return unknown("an image has no kernel of its own"), ""


def _container(host: Host) -> Fact:
    """Return the markers seen. One is a hint: /.dockerenv also lies on virtual machines."""
    if host.live and host.system != "linux":
        return not_applicable("containers run on Linux")
    seen: list[str] = [path for path in _MARKER_FILES if host.exists(path)]
    seen += [name for name in _MARKER_VARIABLES if host.environ.get(name)]
    engine = host.environ.get("container", "").lower()
    seen += [f"container={engine}"] if engine in _ENGINES else []
    groups = host.read(CGROUP)
    if groups is not None:
        seen += [f"cgroup:{word}" for word in _words(groups)]
    if seen:
        return ok(sorted(seen))
    if groups is not None:
        return ok([])
    if host.live or host.exists("/proc/self"):
        return unknown(host.why_not(CGROUP))
    return unknown("an image does not tell where it will run")


def _words(groups: str) -> list[str]:
    """Return the engines named as whole words by the paths in /proc/self/cgroup."""
    for char in "/:-.\n":
        groups = groups.replace(char, " ")
    found = groups.split()
    return [word for word in _CGROUP_WORDS if word in found]


def _sandbox(host: Host, release: Fact, build: str) -> Fact:
    name = _lambda(host)
    if name is not None:
        return ok(name)
    if host.system != "linux":
        return ok("none")
    if not release.is_ok:
        return unknown(release.reason)
    text = f"{release.value} {build}"
    fixed = release.value == _GVISOR_RELEASE and _GVISOR_BUILD in build
    return ok("gvisor" if fixed or "gvisor" in text.lower() else "none")


def _lambda(host: Host) -> str | None:
    environ = host.environ
    if environ.get("AWS_LAMBDA_FUNCTION_NAME") or environ.get("LAMBDA_TASK_ROOT"):
        return "lambda"
    return "lambda" if environ.get("AWS_EXECUTION_ENV", "").startswith("AWS_Lambda_") else None
