"""Which installed frameworks are built for an accelerator, and for which."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from envcheck.comparing.inventory import Inventory
from envcheck.records import record

__all__ = [
    "Build",
    "Capability",
    "accelerated",
    "builds_of",
    "capabilities",
    "cuda_lines",
    "devices_of",
    "parse_capability",
]

_PROVIDERS = {
    "CUDAExecutionProvider": "cuda", "TensorrtExecutionProvider": "cuda",
    "NvTensorRTRTXExecutionProvider": "cuda", "ROCMExecutionProvider": "rocm",
    "MIGraphXExecutionProvider": "rocm",
}  # fmt: skip
_RUNTIME = r"nvidia-cuda-runtime(?:-cu(\d+))?"
_JAX = r"jax-cuda(\d+)-plugin"
_CAPABILITY = r"(?a:(sm|compute)_(\d+)(\d)([af]?)\Z)"
_OTHER = {"tensorflow-metal": "metal", "jax-metal": "metal", "cupy": "cuda"}


@record(kw_only=True)
class Build:
    """One framework's build for an accelerator: cuda, rocm or metal."""

    name: str
    vendor: str
    source: str
    cuda: str = ""


class Capability(NamedTuple):
    """A compute capability such as 8.6."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Return the usual spelling."""
        return f"{self.major}.{self.minor}"


def parse_capability(text: str) -> tuple[str, Capability, str] | None:
    """Return kind (sm or compute), capability and suffix of an entry of a build record."""
    found = re.match(_CAPABILITY, text)
    if found is None:
        return None
    return found[1], Capability(int(found[2]), int(found[3])), found[4]


def builds_of(inventory: Inventory) -> list[Build]:
    """Return the builds for accelerators that an environment has."""
    side, out = inventory.fingerprint, []
    tensorflow, torch, runtime = (
        fact.value if fact.is_ok else {}
        for fact in map(
            side.fact, ("framework.tensorflow", "framework.torch", "framework.onnxruntime")
        )
    )
    where = f"{inventory.side}:framework."
    for flag, vendor in (("is_cuda_build", "cuda"), ("is_rocm_build", "rocm")):
        if tensorflow.get(flag):
            cuda = str(tensorflow.get("cuda_version") or "")
            out.append(
                Build(name="TensorFlow", vendor=vendor, source=f"{where}tensorflow", cuda=cuda)
            )
    for field, vendor in (("cuda", "cuda"), ("hip", "rocm")):
        if torch.get(field):
            cuda = str(torch[field]) if field == "cuda" else ""
            out.append(Build(name="PyTorch", vendor=vendor, source=f"{where}torch", cuda=cuda))
    vendors = {_PROVIDERS[one] for one in runtime.get("providers", ()) if one in _PROVIDERS}
    source = f"{where}onnxruntime"
    out += [Build(name="ONNX Runtime", vendor=vendor, source=source) for vendor in sorted(vendors)]
    return out + _from_packages(inventory)


def _from_packages(inventory: Inventory) -> list[Build]:
    out = []
    for name in sorted(inventory.packages):
        plugin = re.fullmatch(_JAX, name) if name.startswith("jax-") else None
        if plugin or name in _OTHER or name.startswith("cupy-cuda"):
            vendor = "cuda" if plugin or name.startswith("cupy") else _OTHER[name]
            source = inventory.source(name)
            cuda = plugin[1] if plugin else ""
            out.append(Build(name=name, vendor=vendor, source=source, cuda=cuda))
    return out


def accelerated(inventory: Inventory, vendor: str = "") -> Build | None:
    """Return a build for an accelerator, of one vendor if given; None when there is none."""
    found = [one for one in builds_of(inventory) if vendor in ("", one.vendor)]
    return found[0] if found else None


def cuda_lines(inventory: Inventory) -> dict[int, str]:
    """Return the major lines of the CUDA runtimes that are installed as packages."""
    out = {}
    for name, package in sorted(inventory.packages.items()):
        found = re.fullmatch(_RUNTIME, name) if name.startswith("nvidia-") else None
        if found is None:
            continue
        text = found[1] or (package.version or "").split(".")[0]
        if text.isdigit():
            out[int(text)] = name
    return out


def devices_of(inventory: Inventory) -> list[dict[str, Any]]:
    """Return the devices of a side, none when they are not known."""
    fact = inventory.fingerprint.fact("gpu.devices")
    return list(fact.value) if fact.is_ok else []


def capabilities(inventory: Inventory) -> list[Capability] | None:
    """Return the compute capabilities of a side's devices, None when one is not known."""
    out = []
    for device in devices_of(inventory):
        major, dot, minor = str(device.get("compute_capability", "")).partition(".")
        if not (dot and major.isdigit() and minor.isdigit()):
            return None
        out.append(Capability(int(major), int(minor)))
    return out or None
