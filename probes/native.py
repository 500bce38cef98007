"""Native numeric libraries that distributions bring: BLAS and OpenMP, from file names alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envcheck.facts import Facts, ok, unknown
from envcheck.probing.distributions import normalise

if TYPE_CHECKING:
    from envcheck.probing.distributions import Distribution
    from envcheck.probing.host import Host

_HINTS = (b"openblas", b"mkl_rt", b"mkl_core", b"libblis", b"libgomp", b"iomp5", b"libomp")
"""A RECORD with none of these names no library of interest; nearly all are passed over so."""
# Patterns stay texts here: `re` compiles one when it is first needed, which is often never.
_BLAS = (
    ("openblas", r"(?:lib)?(?:scipy_)?openblas[\w.+-]*\.(?:so(?:\.\d+)*|dylib|dll)"),
    ("mkl", r"(?:lib)?mkl_rt[\w.-]*\.(?:so(?:\.\d+)*|dylib|dll)"),
    ("blis", r"libblis[\w.-]*\.(?:so(?:\.\d+)*|dylib|dll)"),
)
_OPENMP = (
    ("libgomp", r"libgomp[\w.-]*\.(?:so(?:\.\d+)*|dylib|dll)"),
    ("libiomp5", r"lib(?:iomp5)(?:md)?[\w.-]*\.(?:so(?:\.\d+)*|dylib|dll)"),
    ("libomp", r"libomp(?:\d+)?(?:-[\w.]*)?\.(?:so(?:\.\d+)*|dylib|dll)"),
)
_OPENBLAS_FILE = r"-r(\d+)-[0-9a-f]+\.(\d+(?:\.\w+)*)\.(?:so|dylib)"
"""The old spelling, as in libopenblas64_p-r0-0cf96a72.3.23.dev.so for 0.3.23.dev."""
_CONFIGURED = (
    r"""["']blas["']\s*:\s*\{\s*["']name["']\s*:\s*["']([^"'\n]{0,60})["']"""
    r"""[^{}]{0,400}?["']version["']\s*:\s*["']([^"'\n]{0,60})["']"""
)
_NAMES = (
    ("openblas", "openblas"), ("mkl", "mkl"), ("accelerate", "accelerate"), ("blis", "blis"),
    ("netlib", "netlib"),
)  # fmt: skip
_BUILT_ON_BLAS = ("numpy", "scipy")
_OWN_WHEELS = ("blis", "mkl", "scipy-openblas32", "scipy-openblas64")
_CONFIG_LIMIT = 1 << 16
_CONDA_BLAS = {"libopenblas": "openblas", "openblas": "openblas", "mkl": "mkl", "blis": "blis"}
_CONDA_OPENMP = {
    "libgomp": "libgomp", "intel-openmp": "libiomp5", "llvm-openmp": "libomp",
}  # fmt: skip
_VERSION = r"\d[\w.+!-]{0,60}"


def probe(host: Host) -> Facts:
    """Return the BLAS libraries and OpenMP runtimes that distributions bring."""
    if not host.interpreter.path:
        why = unknown(host.interpreter.problem or "no import path is known")
        return {"native.blas": why, "native.openmp": why}
    blas: dict[tuple[str, str], str] = {}
    openmp: set[tuple[str, str]] = set()
    suffix = {"darwin": b".dylib", "win32": b".dll"}.get(host.system, b".so")
    for dist in host.distributions:
        record = dist.record
        files = None
        if record.mentions(suffix) and any(record.mentions(hint) for hint in _HINTS):
            files = _library_files([*record.own_lines, *record.other_lines])
        if dist.name and (files or dist.name in _BUILT_ON_BLAS):
            found = dict(_blas_files(files or []))
            blas.update(_with_versions(host, dist, found))
            openmp.update((dist.name, library) for library in _matching(files or [], _OPENMP))
    _add_conda(host, blas, openmp)
    return {
        "native.blas": ok([_entry(*key, blas[key]) for key in sorted(blas)]),
        "native.openmp": ok([_entry(*key) for key in sorted(openmp)]),
    }


def _with_versions(
    host: Host, dist: Distribution, found: dict[str, str]
) -> dict[tuple[str, str], str]:
    """Return the libraries of a distribution, with versions from its build record if need be."""
    name = dist.name or ""
    if name in _BUILT_ON_BLAS:
        library, version = _configured(host, dist)
        if library and (library in found or not found):
            found[library] = found.get(library) or version
    elif name in _OWN_WHEELS:
        version = dist.field("version") or ""
        known = version if re.fullmatch(_VERSION, version) else ""
        found = {library: spelled or known for library, spelled in found.items()}
    return {(name, library): version for library, version in found.items()}


def _add_conda(host: Host, blas: dict[tuple[str, str], str], openmp: set[tuple[str, str]]) -> None:
    """Add the libraries that conda packages bring, which are no Python distributions."""
    for package, version in _conda_packages(host):
        if package in _CONDA_BLAS:
            blas.setdefault((package, _CONDA_BLAS[package]), version)
        elif package in _CONDA_OPENMP:
            openmp.add((package, _CONDA_OPENMP[package]))


def _entry(package: str, library: str, version: str = "") -> dict[str, str]:
    out = {"package": package, "library": library}
    if version:
        out["version"] = version
    return out


def _library_files(lines: list[bytes]) -> list[str]:
    """Return the base names of the files in RECORD that may be native libraries."""
    out = []
    for line in lines:
        if any(hint in line for hint in _HINTS):
            path = line.rsplit(b",", 2)[0].decode("utf-8", "replace").strip('"')
            out.append(path.replace("\\", "/").rpartition("/")[2])
    return out


def _matching(files: list[str], patterns: tuple[tuple[str, str], ...]) -> list[str]:
    return [
        library
        for library, pattern in patterns
        if any(re.fullmatch(pattern, file.lower()) for file in files)
    ]


def _blas_files(files: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the BLAS libraries among files, with the version where the name spells it."""
    for library, pattern in _BLAS:
        versions = set()
        for file in files:
            if re.fullmatch(pattern, file.lower()):
                found = re.search(_OPENBLAS_FILE, file)
                versions.add(f"{found.group(1)}.{found.group(2)}" if found else "")
        if versions:
            yield library, versions.pop() if len(versions) == 1 else ""


def _configured(host: Host, dist: Distribution) -> tuple[str, str]:
    """Return BLAS library and version as __config__.py of numpy or scipy records them."""
    text = host.read(f"{dist.folder}/{dist.name}/__config__.py", _CONFIG_LIMIT) or ""
    found = re.search(_CONFIGURED, text)
    if not found:
        return "", ""
    name, version = found.group(1).lower(), found.group(2)
    library = next((library for part, library in _NAMES if part in name), "")
    return library, version if library and re.fullmatch(_VERSION, version) else ""


def _conda_packages(host: Host) -> Iterator[tuple[str, str]]:
    """Yield name and version of the conda packages beside the interpreter."""
    if host.interpreter.kind != "conda":
        return
    prefix = host.interpreter.home.replace("\\", "/").rpartition("/lib/")[0]
    for name in host.listdir(f"{prefix}/conda-meta") or ():
        parts = name.rsplit("-", 2)
        if name.endswith(".json") and len(parts) == 3:
            yield normalise(parts[0]), parts[1]
