"""Native libraries, and what else of the host decides whether compiled code runs right."""

from __future__ import annotations

from datetime import date
from typing import Any

from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, put_check
from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.spellings import architecture
from envcheck.comparing.tables import table
from envcheck.facts import NOT_APPLICABLE
from envcheck.versions import compare_versions

__all__ = ["add_natives"]

_BLAS, _OPENMP = "native.blas", "native.openmp"
_TEMP = "limits.writable_temp"
_SOUND_OPENBLAS = "0.3.7"
_COMPUTES_WITH_BLAS = frozenset({"numpy", "scipy", "libopenblas", "openblas"})
_CORE = "env.OPENBLAS_CORETYPE"
_NEEDS_LIBGL = ("opencv-python", "opencv-contrib-python")
_HEADLESS = ("opencv-python-headless", "opencv-contrib-python-headless")
_READS_CPU_LISTS = ("onnxruntime", "torch")


def add_natives(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how native libraries and the host of the deploy side stand to what runs there."""
    if deploy.intended:
        return
    put_check(graph, _old_openblas(deploy), _old_openblas(train))
    put_check(graph, _blas_vendor(train, deploy))
    put_check(graph, _openmp_mix(deploy), _openmp_mix(train))
    put_check(graph, _libgl(deploy), _libgl(train))
    for name in sorted(table("imports")["numpy2"].keys() & deploy.packages.keys()):
        put_check(graph, _numpy2(deploy, name), _numpy2(train, name))
    put_check(graph, _temporary(train, deploy))
    put_check(graph, _end_of_life(deploy), _end_of_life(train))
    put_check(graph, _sandbox(deploy), _sandbox(train))
    put_check(graph, _thread_storage(deploy), _thread_storage(train))


def _old_openblas(side: Inventory) -> Check | None:
    """Check that no OpenBLAS with the AVX-512 kernels that were later withdrawn computes."""
    blas, features = side.fingerprint.fact(_BLAS), side.fingerprint.fact("cpu.features")
    core = side.fingerprint.fact(_CORE)
    versions = [
        str(entry["version"])
        for entry in (blas.value if blas.is_ok else ())
        if entry.get("library") == "openblas" and entry.get("package") in _COMPUTES_WITH_BLAS
        and entry.get("version")
    ]  # fmt: skip
    old = [one for one in versions if compare_versions(one, _SOUND_OPENBLAS) == -1]
    sources = tuple(f"{side.side}:{key}" for key in (_BLAS, "cpu.features"))
    if not versions or (features.is_ok and not old):
        return None
    if old and (features.is_open or core.is_open):
        return Check(subject=_BLAS, kind="openblasKernels", outcome=OPEN, sources=sources)
    chosen = core.is_ok and core.value != "skylakex"
    wide = features.is_ok and "avx512f" in features.value
    return Check(
        subject=_BLAS,
        kind="openblasKernels",
        outcome=MISFIT if old and wide and not chosen else FITS,
        sources=sources,
        has=", ".join(dict.fromkeys(old)),
    )


def _libraries(side: Inventory, key: str, packages: frozenset[str] | None = None) -> list[str]:
    fact = side.fingerprint.fact(key)
    entries: list[dict[str, Any]] = fact.value if fact.is_ok else []
    names = {
        str(entry["library"])
        for entry in entries
        if entry.get("library") and (packages is None or entry.get("package") in packages)
    }
    return sorted(names)


def _blas_vendor(train: Inventory, deploy: Inventory) -> Check | None:
    """Check that numpy computes with the BLAS of the same vendor."""
    pair = [
        _libraries(side, _BLAS, frozenset({"numpy"}))
        or _libraries(side, _BLAS, frozenset({"libopenblas", "mkl"}))
        for side in (train, deploy)
    ]
    facts = [side.fingerprint.fact(_BLAS) for side in (train, deploy)]
    if any(fact.is_ok and not names for fact, names in zip(facts, pair, strict=True)):
        return None
    return Check(
        subject=_BLAS,
        kind="blasVendor",
        outcome=OPEN if any(fact.is_open for fact in facts) else
        FITS if pair[0] == pair[1] else MISFIT,
        sources=(f"train:{_BLAS}", f"deploy:{_BLAS}"),
        train=", ".join(pair[0]),
        deploy=", ".join(pair[1]),
    )  # fmt: skip


def _openmp_mix(side: Inventory) -> Check | None:
    """Check that all OpenMP runtimes of a side are of one kind."""
    fact, names = side.fingerprint.fact(_OPENMP), _libraries(side, _OPENMP)
    if fact.is_ok and not names:
        return None
    outcome = OPEN if fact.is_open else MISFIT if len(names) > 1 else FITS
    return Check(
        subject=_OPENMP, kind="openmpMix", outcome=outcome, sources=(f"{side.side}:{_OPENMP}",),
        what=" and ".join(names),
    )  # fmt: skip


def _libgl(side: Inventory) -> Check | None:
    """Check that OpenCV with windows finds the system library that it is linked against."""
    names = [name for name in _NEEDS_LIBGL if name in side.packages and side.packages[name].tags]
    if not names or side.fingerprint.fact("os.system").value != "linux":
        return None
    libraries = side.fingerprint.fact("os.system_libraries")
    sources = (side.source(names[0]), f"{side.side}:os.system_libraries")
    rivals = any(name in side.packages for name in _HEADLESS)
    missing = libraries.is_ok and "libGL.so.1" not in libraries.value
    why = "a build without windows is installed too, and the last one installed counts"
    return Check(
        subject=f"package.{names[0]}",
        kind="libGL",
        outcome=OPEN if libraries.is_open or (missing and rivals) else
        MISFIT if missing else FITS,
        sources=sources,
        name=f"{names[0]} {side.packages[names[0]].full_version}",
        wanted=f"{names[0]}-headless",
        open_question=why,
    )  # fmt: skip


def _numpy2(side: Inventory, name: str) -> Check | None:
    """Check that a package compiled for numpy 1 does not meet numpy 2."""
    numpy, package = side.packages.get("numpy"), side.packages.get(name)
    if numpy is None or package is None:
        return None
    first = table("imports")["numpy2"][name]
    sources = (side.source(name), side.source("numpy"))
    orders = [
        compare_versions(str(package.version), first) if package.version else None,
        compare_versions(str(numpy.version), "2.0.0.dev0") if numpy.version else None,
    ]
    if None in orders:
        return Check(subject=f"package.{name}", kind="numpy2", outcome=OPEN, sources=sources)
    old, new = orders[0] == -1, orders[1] != -1
    return Check(
        subject=f"package.{name}",
        kind="numpy2",
        outcome=MISFIT if old and new else FITS,
        sources=sources,
        name=f"{name} {package.full_version}",
        has=f"numpy {numpy.full_version}",
        wanted=f"{name}>={first}",
    )


def _temporary(train: Inventory, deploy: Inventory) -> Check | None:
    before, after = (side.fingerprint.fact(_TEMP) for side in (train, deploy))
    if before.value is not True:
        return None
    outcome = OPEN if after.is_open else FITS if after.value else MISFIT
    sources = (f"train:{_TEMP}", f"deploy:{_TEMP}")
    return Check(subject=_TEMP, kind="writableTemp", outcome=outcome, sources=sources)


def _end_of_life(side: Inventory) -> Check | None:
    """Check that Python still gets security fixes on the day of the capture."""
    version = side.fingerprint.fact("python.version")
    text = str(side.fingerprint.envelope.get("created") or "")[:10]
    release = ".".join(str(version.value).split(".")[:2]) if version.is_ok else ""
    ends = table("python")["end_of_life"].get(release)
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    if ends is None and version.is_ok:
        return None
    sources = (f"{side.side}:python.version",)
    if ends is None:
        return Check(
            subject="python.version", kind="pythonSupported", outcome=OPEN, sources=sources
        )
    return Check(
        subject="python.version",
        kind="pythonSupported",
        outcome=MISFIT if day > date.fromisoformat(ends) else FITS,
        sources=sources,
        name=f"Python {version.value}",
        has=ends,
    )


def _sandbox(side: Inventory) -> Check | None:
    """Check that libraries which read lists of processors are not run where there are none."""
    sandbox, machine = (side.fingerprint.fact(key) for key in ("os.sandbox", "cpu.architecture"))
    names = [name for name in _READS_CPU_LISTS if name in side.packages]
    if not names or not machine.is_ok or architecture(machine.value) != "aarch64":
        return None
    sources = tuple(f"{side.side}:{key}" for key in ("os.sandbox", "cpu.architecture"))
    outcome = OPEN if sandbox.is_open else MISFIT if sandbox.value == "lambda" else FITS
    return Check(
        subject="os.sandbox", kind="cpuLists", outcome=outcome,
        sources=(*sources, side.source(names[0])), name=names[0], has=str(sandbox.value),
    )  # fmt: skip


def _thread_storage(side: Inventory) -> Check | None:
    """Check that no more than one package brings libgomp on Arm, where its storage is scarce."""
    machine, openmp = (side.fingerprint.fact(key) for key in ("cpu.architecture", _OPENMP))
    if not machine.is_ok or architecture(machine.value) != "aarch64":
        return None
    if openmp.state == NOT_APPLICABLE or side.fingerprint.fact("os.system").value != "linux":
        return None
    entries = openmp.value if openmp.is_ok else []
    names = sorted({str(item["package"]) for item in entries if item["library"] == "libgomp"})
    outcome = OPEN if openmp.is_open else MISFIT if len(names) > 1 else FITS
    return Check(
        subject=_OPENMP, kind="threadStorage", outcome=outcome,
        sources=(f"{side.side}:cpu.architecture", f"{side.side}:{_OPENMP}"),
        what=", ".join(names),
    )  # fmt: skip
