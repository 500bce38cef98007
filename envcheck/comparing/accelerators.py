"""Graphics processors: there, served by the driver, known to the build, and of one kind.

What is not known of a GPU stays open: without NVML a device may be there all the same. The
presence of a CUDA compiler says nothing, and no fact records it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from envcheck.comparing.artefacts import shipped_artefacts
from envcheck.comparing.builds import (
    Build,
    Capability,
    accelerated,
    builds_of,
    capabilities,
    devices_of,
)
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, put_check
from envcheck.comparing.cuda import CUDA_QUESTIONS
from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.facts import NOT_APPLICABLE, Fact

__all__ = ["add_accelerators"]

_DEVICES = "gpu.devices"
_VISIBLE = "gpu.visible"
_OVERRIDE = "env.NVIDIA_TF32_OVERRIDE"
_ENGINES = (".engine", ".plan", ".trt")
_TF32_FROM = Capability(8, 0)
_CPU = "CPUExecutionProvider"


def add_accelerators(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how the graphics processors of the two sides stand to each other."""
    if deploy.intended or train.intended:
        return
    put_check(graph, _lost(train, deploy))
    put_check(graph, _hidden(deploy), _hidden(train))
    put_check(graph, _other_model(train, deploy))
    put_check(graph, _tf32(train, deploy))
    put_check(graph, _provider(train, deploy))
    put_check(graph, _vendor(train, deploy))
    for check in _engines(graph, train, deploy):
        put_check(graph, check)
    for question in CUDA_QUESTIONS:
        put_check(graph, question(deploy), question(train))


def _is_absent(fact: Fact) -> bool:
    return fact.state == NOT_APPLICABLE or (fact.is_ok and not fact.value)


def _lost(train: Inventory, deploy: Inventory) -> Check | None:
    """Check that a GPU is there where one was trained on and something deployed would use it."""
    build = accelerated(deploy)
    before, after = (side.fingerprint.fact(_DEVICES) for side in (train, deploy))
    if build is None or accelerated(train) is None or not (before.is_ok and before.value):
        return None
    outcome = MISFIT if _is_absent(after) else OPEN if after.is_open else FITS
    return Check(
        subject=_DEVICES,
        kind="gpuThere",
        outcome=outcome,
        sources=(f"train:{_DEVICES}", f"deploy:{_DEVICES}", build.source),
        name=build.name,
        train=_names(before.value),
    )


def _names(devices: Iterable[dict[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(str(one.get("name", "a GPU")) for one in devices))


def _hidden(side: Inventory) -> Check | None:
    """Check that variables do not hide the devices of a side."""
    devices, visible = devices_of(side), side.fingerprint.fact(_VISIBLE)
    build = accelerated(side)
    if not devices or build is None:
        return None
    sources = (f"{side.side}:{_DEVICES}", f"{side.side}:{_VISIBLE}", build.source)
    outcome = OPEN if visible.is_open else MISFIT if visible.value == "none" else FITS
    return Check(
        subject=_VISIBLE, kind="gpuVisible", outcome=outcome, sources=sources, name=build.name
    )


def _other_model(train: Inventory, deploy: Inventory) -> Check | None:
    before, after = _names(devices_of(train)), _names(devices_of(deploy))
    if not (before and after) or "a GPU" in (before, after):
        return None
    return Check(
        subject=_DEVICES,
        kind="gpuModel",
        outcome=FITS if before == after else MISFIT,
        sources=(f"train:{_DEVICES}", f"deploy:{_DEVICES}"),
        train=before,
        deploy=after,
    )


def _tf32(train: Inventory, deploy: Inventory) -> Check | None:
    """Check that both sides, or neither, may shorten float32 factors to 10 bits."""
    pair = (capabilities(train), capabilities(deploy))
    builds = [accelerated(side, "cuda") for side in (train, deploy)]
    if not (devices_of(train) and devices_of(deploy) and all(builds)):
        return None
    sources = tuple(f"{side}:{key}" for side in ("train", "deploy") for key in (_DEVICES,))
    if pair[0] is None or pair[1] is None:
        return Check(subject=_DEVICES, kind="tf32Hardware", outcome=OPEN, sources=sources)
    able = [min(found) >= _TF32_FROM for found in pair if found]
    outcome = FITS
    if able[0] != able[1]:
        capable = (train, deploy)[able.index(True)]
        off = capable.fingerprint.fact(_OVERRIDE)
        sources = (*sources, f"{capable.side}:{_OVERRIDE}")
        outcome = OPEN if off.is_open else FITS if off.value == "0" else MISFIT
    return Check(
        subject=_DEVICES,
        kind="tf32Hardware",
        outcome=outcome,
        sources=sources,
        train=", ".join(map(str, pair[0])),
        deploy=", ".join(map(str, pair[1])),
    )


def _provider(train: Inventory, deploy: Inventory) -> Check | None:
    """Check that ONNX Runtime has the execution providers of the train side."""
    key = "framework.onnxruntime"
    before, after = (side.fingerprint.fact(key) for side in (train, deploy))
    if not before.is_ok or after.state == NOT_APPLICABLE:
        return None
    had = [name for name in before.value.get("providers", ()) if name != _CPU]
    if not had:
        return None
    sources = (f"train:{key}", f"deploy:{key}")
    has = after.value.get("providers", ()) if after.is_ok else ()
    gone = [name for name in had if name not in has]
    outcome = OPEN if after.is_open else MISFIT if gone else FITS
    return Check(
        subject=key, kind="executionProvider", outcome=outcome, sources=sources,
        what=", ".join(gone), wanted=str(before.value.get("package") or "onnxruntime-gpu"),
    )  # fmt: skip


def _vendor(train: Inventory, deploy: Inventory) -> Check | None:
    """Check that accelerators of one vendor compute on both sides."""
    sides = [{one.vendor: one for one in builds_of(side)} for side in (train, deploy)]
    if not all(sides):
        return None
    both = sides[0].keys() & sides[1].keys()
    before, after = (_first(side) for side in sides)
    return Check(
        subject="gpu.devices", kind="gpuVendor", outcome=FITS if both else MISFIT,
        sources=(before.source, after.source),
        train=f"{before.vendor} ({before.name})", deploy=f"{after.vendor} ({after.name})",
    )  # fmt: skip


def _first(builds: dict[str, Build]) -> Build:
    return builds[min(builds)]


def _engines(graph: Graph, train: Inventory, deploy: Inventory) -> Iterable[Check]:
    """Yield for each compiled TensorRT engine whether it was built for such a card."""
    for artefact in shipped_artefacts(graph.train, graph.deploy):
        if artefact.format != "unknown" or not artefact.name.endswith(_ENGINES):
            continue
        pair = (capabilities(train), capabilities(deploy))
        if not (devices_of(train) and devices_of(deploy)):
            continue
        sources = (artefact.source, f"train:{_DEVICES}", f"deploy:{_DEVICES}")
        outcome = OPEN if None in pair else FITS if pair[0] == pair[1] else MISFIT
        yield Check(
            subject=artefact.key, kind="engineCard", outcome=outcome, sources=sources,
            name=artefact.name, train=", ".join(map(str, pair[0] or ())),
            deploy=", ".join(map(str, pair[1] or ())),
        )  # fmt: skip
