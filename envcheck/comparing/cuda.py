"""CUDA builds against driver, card, cuDNN and CUDA runtime of the same environment."""

from __future__ import annotations

import re
from collections.abc import Callable

from envcheck.comparing.builds import (
    Capability,
    builds_of,
    capabilities,
    cuda_lines,
    parse_capability,
)
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.tables import table
from envcheck.facts import NOT_APPLICABLE
from envcheck.versions import compare_versions

__all__ = ["CUDA_QUESTIONS"]

_TENSORFLOW = "framework.tensorflow"
_CUDNN = r"nvidia-cudnn(?:-cu\d+)?"
_REQUIRED = r"cuda>=(\d+\.\d+)"


def _has_devices(side: Inventory) -> bool:
    fact = side.fingerprint.fact("gpu.devices")
    return fact.is_ok and bool(fact.value)


def _asked(side: Inventory) -> tuple[str, str, str] | None:
    """Return name, CUDA version and source of what asks for the newest CUDA of a side."""
    found = [(one.cuda, one.name, one.source) for one in builds_of(side) if one.cuda]
    variable = side.fingerprint.fact("env.NVIDIA_REQUIRE_CUDA")
    asked = re.findall(_REQUIRED, str(variable.value)) if variable.is_ok else []
    if asked:
        lowest = min(asked, key=_numbers)
        found.append((lowest, "the image", f"{side.side}:env.NVIDIA_REQUIRE_CUDA"))
    for major, name in cuda_lines(side).items():
        found.append((str(major), name, side.source(name)))
    newest = max(found, key=lambda item: _numbers(item[0]), default=None)
    return (newest[1], newest[0], newest[2]) if newest else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def driver_floor(side: Inventory) -> Check | None:
    """Check that the driver serves the CUDA that something there was built with."""
    asked = _asked(side)
    driver, serves = (
        side.fingerprint.fact(key) for key in ("gpu.driver", "gpu.cuda_driver_version")
    )
    if asked is None or side.fingerprint.fact("os.system").value != "linux":
        return None
    if driver.state == NOT_APPLICABLE or not (_has_devices(side) or driver.is_ok):
        return None
    name, version, source = asked
    sources = (source, f"{side.side}:gpu.driver")
    major = _numbers(version)[0]
    floors = table("cuda")["floors"]
    floor = floors.get(str(major)) or floors.get(".".join(map(str, _numbers(version))))
    order = compare_versions(str(driver.value), floor) if driver.is_ok and floor else None
    if order is None:
        return Check(subject="gpu.driver", kind="driverFloor", outcome=OPEN, sources=sources)
    covered = serves.is_ok and _numbers(str(serves.value))[:1] >= (major,)
    return Check(
        subject="gpu.driver",
        kind="driverFloor",
        outcome=MISFIT if order < 0 and not covered else FITS,
        sources=sources,
        name=f"{name} (CUDA {version})",
        needs=str(floor),
        has=str(driver.value),
    )


def _carried(record: list[str], card: Capability) -> str:
    """Return how a build serves a card: binary, jit (compiled at the first start), or none."""
    parsed = [parse_capability(text) for text in record]
    if None in parsed:
        return "unknown"
    found = [item for item in parsed if item is not None]
    for kind, built, suffix in found:
        same = built == card if suffix == "a" else built.major == card.major and built <= card
        if kind == "sm" and same:
            return "binary"
    able = any(kind == "compute" and not suffix and built <= card for kind, built, suffix in found)
    return "jit" if able else "none"


def _card_check(side: Inventory, kind: str, bad: str) -> Check | None:
    fact = side.fingerprint.fact(_TENSORFLOW)
    if not fact.is_ok or not fact.value.get("is_cuda_build") or not _has_devices(side):
        return None
    sources = (f"{side.side}:{_TENSORFLOW}", f"{side.side}:gpu.devices")
    record, cards = fact.value.get("compute_capabilities"), capabilities(side)
    if not record or cards is None:
        why = "" if cards is None else "TensorFlow's build record does not list the cards"
        return Check(
            subject="gpu.devices", kind=kind, outcome=OPEN, sources=sources, open_question=why
        )
    worst = {_carried(record, card): card for card in cards}
    if "unknown" in worst:
        return Check(subject="gpu.devices", kind=kind, outcome=OPEN, sources=sources)
    return Check(
        subject="gpu.devices",
        kind=kind,
        outcome=MISFIT if bad in worst else FITS,
        sources=sources,
        name=f"TensorFlow {fact.value.get('version', '')}".strip(),
        needs=", ".join(record),
        has=str(worst.get(bad, cards[0])),
    )


def card_served(side: Inventory) -> Check | None:
    """Check that TensorFlow carries code for the card, or code to compile for it."""
    return _card_check(side, "cardServed", "none")


def card_compiled(side: Inventory) -> Check | None:
    """Check that TensorFlow carries code for the card that needs no compilation."""
    return _card_check(side, "cardCompiled", "jit")


def cudnn_release(side: Inventory) -> Check | None:
    """Check that cuDNN is of the major version TensorFlow was built with, and not older."""
    fact = side.fingerprint.fact(_TENSORFLOW)
    told = str(fact.value.get("cudnn_version") or "") if fact.is_ok else ""
    wanted = _numbers(told.rpartition("_")[2])
    names = [
        name
        for name in sorted(side.packages)
        if name.startswith("nvidia-") and re.fullmatch(_CUDNN, name)
    ]
    versions = [_numbers(side.packages[name].version or "") for name in names]
    if not wanted or not versions or not _has_devices(side):
        return None
    best = max(versions)
    package = names[versions.index(best)]
    sources = (f"{side.side}:{_TENSORFLOW}", side.source(package))
    if not best:
        return Check(subject=f"package.{package}", kind="cudnn", outcome=OPEN, sources=sources)
    unfit = best[0] != wanted[0] or best[: len(wanted)] < wanted
    return Check(
        subject=f"package.{package}",
        kind="cudnn",
        outcome=MISFIT if unfit else FITS,
        sources=sources,
        name=package,
        needs=".".join(map(str, wanted)),
        has=str(side.packages[package].version),
        wanted=f"{package}>={'.'.join(map(str, wanted))},<{wanted[0] + 1}",
    )


def cuda_runtime(side: Inventory) -> Check | None:
    """Check that a CUDA runtime of the build's major line is among those installed."""
    fact, lines = side.fingerprint.fact(_TENSORFLOW), cuda_lines(side)
    wanted = _numbers(str(fact.value.get("cuda_version") or "")) if fact.is_ok else ()
    if not wanted or not lines or not _has_devices(side):
        return None
    sources = (f"{side.side}:{_TENSORFLOW}", *(side.source(name) for name in lines.values()))
    return Check(
        subject=f"package.{lines[max(lines)]}",
        kind="cudaRuntime",
        outcome=FITS if wanted[0] in lines else MISFIT,
        sources=sources,
        name=", ".join(lines.values()),
        needs=str(fact.value["cuda_version"]),
        has=", ".join(map(str, sorted(lines))),
    )


CUDA_QUESTIONS: tuple[Callable[[Inventory], Check | None], ...] = (
    driver_floor,
    card_served,
    card_compiled,
    cudnn_release,
    cuda_runtime,
)
"""Every question about a CUDA build, put to an environment."""
