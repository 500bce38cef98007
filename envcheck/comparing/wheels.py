"""Wheel tags against the host: a compiled package that cannot be loaded where it lies.

A tag is `python-abi-platform` (packaging.python.org, platform compatibility tags). Tags are
judged from the facts of the captured host, not from the interpreter that runs the comparison.
"""

from __future__ import annotations

import re

from envcheck.comparing.graph import DEPLOY, Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.spellings import architecture, python_version, same_text
from envcheck.fingerprint import Fingerprint
from envcheck.records import record
from envcheck.versions import compare_versions

__all__ = ["add_wheels", "wheel_problem"]

_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(.+)\Z")
_MUSLLINUX = re.compile(r"musllinux_(\d+)_(\d+)_(.+)\Z")
_CPYTHON = re.compile(r"cp(\d)(\d+)\Z")
_LIBC = ("os.libc_family", "os.libc_version")
_JUDGED_BY = {
    "interpreter": ("python.version", "python.implementation"),
    "machine": ("os.system", "cpu.architecture"),
    "libc": _LIBC,
}


@record
class Problem:
    """Why a wheel does not fit: what it needs, what the host has, and the facts looked at."""

    kind: str
    needs: str
    has: str
    facts: tuple[str, ...]


def add_wheels(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add every deployed package whose wheel does not fit the deploy host."""
    _add_readability(graph, deploy)
    problems = {
        tags: wheel_problem(tags, deploy.fingerprint)
        for tags in {package.tags for package in deploy.packages.values()}
    }
    for name, package in sorted(deploy.packages.items()):
        problem = problems[package.tags]
        if problem is None or deploy.is_tool(name):
            continue
        node, source = f"wheel:{name}", deploy.source(name)
        sources = (source, *(f"deploy:{key}" for key in problem.facts))
        graph.put(node, "wheelMisfit", f"ec:{problem.kind}", *sources)
        graph.put_value(node, "name", name, source)
        graph.put_value(node, "deployVersion", package.full_version or "", source)
        graph.put_value(node, "needs", problem.needs, *sources)
        graph.put_value(node, "has", problem.has, *sources)
        before = _problem_before(train, name)
        if before is not None and before.kind == problem.kind:
            graph.put_value(node, "preExisting", True, train.source(name))


def _problem_before(train: Inventory, name: str) -> Problem | None:
    """Return the misfit of the same package on the train side."""
    package = train.packages.get(name)
    return None if package is None else wheel_problem(package.tags, train.fingerprint)


def _add_readability(graph: Graph, deploy: Inventory) -> None:
    """Say for each property of the host whether wheels can be judged against it."""
    host = deploy.fingerprint
    if deploy.intended:
        return
    for predicate, keys in _JUDGED_BY.items():
        state = "undetermined" if any(host.fact(key).is_open for key in keys) else "known"
        graph.put(DEPLOY, predicate, f"ec:{state}", *(f"deploy:{key}" for key in keys))
    compiled = [
        name
        for name, package in sorted(deploy.packages.items())
        if package.tags and not all(tag.endswith("-any") for tag in package.tags)
    ]
    if compiled:
        graph.put_value(DEPLOY, "compiledPackages", True, deploy.source(compiled[0]))


def wheel_problem(tags: tuple[str, ...], host: Fingerprint) -> Problem | None:
    """Return why no tag of a wheel fits the host; None when one fits or may fit.

    What is not known of the host is taken to fit: a misfit is reported only when it is certain.
    """
    problems = [_tag_problem(tag, host) for tag in tags]
    if not problems or None in problems:
        return None
    order = ("interpreter", "system", "architecture", "libcFamily", "libcVersion")
    certain = [problem for problem in problems if problem is not None]
    return max(certain, key=lambda problem: (order.index(problem.kind), problem.needs))


def _tag_problem(tag: str, host: Fingerprint) -> Problem | None:
    parts = tag.rsplit("-", 2)
    if len(parts) != 3:
        return None
    python, abi, platform = parts
    misfits = [_interpreter_problem(one, abi, host) for one in python.split(".")]
    if misfits and None not in misfits:
        return misfits[0]
    misfits = [_platform_problem(one, host) for one in platform.split(".")]
    return None if not misfits or None in misfits else misfits[0]


def _interpreter_problem(python: str, abi: str, host: Fingerprint) -> Problem | None:
    version, implementation = host.fact("python.version"), host.fact("python.implementation")
    facts = ("python.version", "python.implementation")
    if not version.is_ok or not implementation.is_ok:
        return None
    here = python_version(version.value).split(".")
    if len(here) < 2:
        return None
    has = f"{implementation.value} {here[0]}.{here[1]}"
    if python.startswith("py"):
        fits = python[2:3] == here[0]
        return None if fits else Problem("interpreter", python, has, facts)
    found = _CPYTHON.match(python)
    if found is None or implementation.value != "cpython":
        known = {"pp": "pypy", "cp": "cpython"}.get(python[:2])
        if known is None or known == implementation.value:
            return None
        return Problem("interpreter", f"{known} ({python})", has, facts)
    wanted = (int(found[1]), int(found[2]))
    actual = (int(here[0]), int(here[1]))
    stable = any(one.startswith("abi3") or one == "none" for one in abi.split("."))
    fits = wanted <= actual if stable and wanted[0] == actual[0] else wanted == actual
    if not fits:
        return Problem("interpreter", f"cpython {wanted[0]}.{wanted[1]} ({abi})", has, facts)
    return _threading_problem(abi, host)


def _threading_problem(abi: str, host: Fingerprint) -> Problem | None:
    """Return the misfit of a build with and one without the global interpreter lock."""
    free = host.fact("python.free_threaded")
    if not free.is_ok or not abi.startswith("cp"):
        return None
    built_free = abi.endswith("t")
    if built_free == bool(free.value):
        return None
    words = {True: "a free-threaded build", False: "a build with the global interpreter lock"}
    return Problem(
        "interpreter", words[built_free], words[bool(free.value)], ("python.free_threaded",)
    )


def _platform_problem(platform: str, host: Fingerprint) -> Problem | None:
    if platform == "any":
        return None
    system = host.fact("os.system")
    if not system.is_ok:
        return None
    wanted = _system_of(platform)
    if wanted is None:
        return None
    if wanted != same_text(system.value):
        return Problem("system", f"{wanted} ({platform})", system.value, ("os.system",))
    return _architecture_problem(platform, host) or _libc_problem(platform, host)


def _system_of(platform: str) -> str | None:
    for head, system in (
        ("manylinux", "linux"), ("musllinux", "linux"), ("linux", "linux"),
        ("macosx", "darwin"), ("win", "windows"),
    ):  # fmt: skip
        if platform.startswith(head):
            return system
    return None


def _architecture_problem(platform: str, host: Fingerprint) -> Problem | None:
    found = host.fact("cpu.architecture")
    if not found.is_ok or platform.endswith(("universal2", "universal", "intel")):
        return None
    for spelling in (
        "x86_64",
        "aarch64",
        "arm64",
        "amd64",
        "i686",
        "i386",
        "ppc64le",
        "s390x",
        "armv7l",
        "armv6l",
        "riscv64",
        "loongarch64",
        "win32",
    ):
        if platform.endswith(spelling):
            wanted = "x86" if spelling == "win32" else architecture(spelling)
            has = architecture(found.value)
            if wanted == has:
                return None
            return Problem("architecture", wanted, has, ("cpu.architecture",))
    return None


def _libc_problem(platform: str, host: Fingerprint) -> Problem | None:
    family, version = host.fact("os.libc_family"), host.fact("os.libc_version")
    needed = _needed_libc(platform)
    if needed is None or not family.is_ok:
        return None
    if family.value != needed[0]:
        return Problem("libcFamily", needed[0], family.value, _LIBC[:1])
    if not version.is_ok or compare_versions(version.value, needed[1]) != -1:
        return None
    return Problem("libcVersion", " ".join(needed), f"{family.value} {version.value}", _LIBC)


def _needed_libc(platform: str) -> tuple[str, str] | None:
    """Return family and lowest version of the C library that a platform tag asks for."""
    for expression, family in ((_MANYLINUX, "glibc"), (_MUSLLINUX, "musl")):
        found = expression.match(platform)
        if found:
            return family, f"{int(found[1])}.{int(found[2])}"
    for head, version in _LEGACY.items():
        if platform.startswith(head + "_"):
            return "glibc", version
    return None
