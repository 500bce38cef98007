"""Requires-Dist lines: what a distribution needs in a given environment.

Lines of the usual shape are split here; `packaging` parses the others and evaluates markers
that are more than one plain comparison.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envcheck.comparing.markers import decide
from envcheck.comparing.spellings import architecture, python_version, same_text
from envcheck.fingerprint import Fingerprint
from envcheck.packaging_library import packaging_module
from envcheck.probing.distributions import normalise
from envcheck.records import record

__all__ = ["Requirement", "applies", "marker_environment", "parse_requirement"]

_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*"
    r"\(?(?P<specifier>[^;()@\[\]]*)\)?\s*(?:;\s*(?P<marker>.*))?\Z"
)


@record(kw_only=True)
class Requirement:
    """One parsed Requires-Dist line; `marker` is empty when there is none."""

    name: str
    specifier: str
    marker: str


@lru_cache(maxsize=16384)
def parse_requirement(line: str) -> Requirement | None:
    """Return the parsed line, or None when it is no requirement or names an address."""
    found = _LINE.match(line)
    if found is not None:
        specifier = found["specifier"].replace(" ", "")
        if not specifier or specifier[0] in "<>=!~":
            return Requirement(
                name=normalise(found["name"]),
                specifier=specifier,
                marker=(found["marker"] or "").strip(),
            )
    library = packaging_module("requirements")
    if library is None:
        return None
    try:
        parsed = library.Requirement(line)
    except ValueError:
        return None
    if parsed.url:
        return None
    return Requirement(
        name=normalise(parsed.name),
        specifier=str(parsed.specifier),
        marker=str(parsed.marker or ""),
    )


def marker_environment(side: Fingerprint) -> Mapping[str, str] | None:
    """Return the marker variables of an environment, or None when too little is known."""
    version = side.fact("python.version")
    system = side.fact("os.system")
    if not (version.is_ok and system.is_ok):
        return None
    implementation = side.fact("python.implementation").value or "cpython"
    names = {"linux": ("Linux", "linux"), "darwin": ("Darwin", "darwin")}
    platform_system, sys_platform = names.get(same_text(system.value), ("Windows", "win32"))
    release = python_version(version.value)
    machine = architecture(side.fact("cpu.architecture").value) or ""
    if sys_platform != "linux":
        machine = {
            "x86_64": "AMD64" if sys_platform == "win32" else "x86_64",
            "aarch64": "ARM64" if sys_platform == "win32" else "arm64",
        }.get(machine, machine)
    return {
        "python_version": ".".join(release.split(".")[:2]),
        "python_full_version": release,
        "implementation_name": implementation,
        "implementation_version": release,
        "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(
            implementation, implementation
        ),
        "platform_system": platform_system,
        "sys_platform": sys_platform,
        "os_name": "nt" if sys_platform == "win32" else "posix",
        "platform_machine": machine,
        "platform_release": side.fact("os.kernel_release").value or "",
        "platform_version": "",
        "extra": "",
    }


def applies(marker: str, environment: Mapping[str, str]) -> bool | None:
    """Return whether a marker holds without extras; None when it cannot be evaluated."""
    if not marker:
        return True
    if "extra" in marker and " or " not in marker:
        return False
    answer = decide(marker, environment)
    if answer is not None:
        return answer
    return _evaluate(marker, tuple(sorted(environment.items())))


@lru_cache(maxsize=1024)
def _evaluate(marker: str, environment: Any) -> bool | None:
    library = packaging_module("markers")
    if library is None:
        return None
    try:
        return bool(library.Marker(marker).evaluate(dict(environment)))
    except (ValueError, KeyError):
        return None
