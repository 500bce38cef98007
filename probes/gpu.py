"""NVIDIA graphics processors: what the driver serves, and what this process would see of it.

Unknown is not absent. Without NVML a device file, a library or the variable by which containers
get GPUs says that there may be one; only where none of them is seen there is no GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.facts import Fact, Facts, error, not_applicable, ok, unknown
from envcheck.probing import nvml
from envcheck.probing.loader import find_libraries
from envcheck.probing.machine import machine_of
from envcheck.probing.visibility import ALL, NONE, cuda_visible, nvidia_visible

if TYPE_CHECKING:
    from envcheck.probing.host import Host

DRIVER_FILE = "/proc/driver/nvidia/version"
BOARDS = "/proc/driver/nvidia/gpus"
KEYS = ("gpu.driver", "gpu.cuda_driver_version", "gpu.devices", "gpu.visible")

_DEVICES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm")
_WSL = "/dev/dxg"
_JETSON = ("/dev/nvhost-ctrl-gpu", "/etc/nv_tegra_release")
_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")
_NVML_WINDOWS = r"C:\Windows\System32\nvml.dll"


def probe(host: Host) -> Facts:
    """Return the driver, the devices and how many of them are visible."""
    if not host.live and not host.exists("/dev") and not host.exists("/proc/driver"):
        return dict.fromkeys(KEYS, unknown("an image has no GPU of its own"))
    if host.system == "darwin":
        return dict.fromkeys(KEYS, not_applicable("macOS has no NVIDIA driver"))
    signs, can_ask = _signs(host)
    if not signs:
        return dict.fromkeys(KEYS, _absent(host))
    answers = _ask(can_ask)
    driver = _kernel_driver(host)
    return {
        "gpu.driver": driver or _from_nvml(answers, answers.driver, "the driver's version"),
        "gpu.cuda_driver_version": _from_nvml(answers, answers.cuda, "the CUDA version"),
        "gpu.devices": _devices(host, answers),
        "gpu.visible": _visible(host, answers),
    }


def _signs(host: Host) -> tuple[list[str], bool]:
    """Return what hints at a GPU, and whether NVML may be asked.

    NVML is asked only where the driver's device file exists: without it the library would start
    a helper program to make one.
    """
    if host.system == "win32":
        found = [_NVML_WINDOWS] if host.exists(_NVML_WINDOWS) else []
        return found, bool(found)
    devices = [path for path in _DEVICES if host.exists(path)]
    libraries = find_libraries(host, _LIBRARIES, machine_of(host))
    signs = devices + sorted(libraries.values())
    signs += [path for path in (DRIVER_FILE, *_JETSON) if host.exists(path)]
    asked_for = nvidia_visible(host.environ.get("NVIDIA_VISIBLE_DEVICES"))
    if asked_for not in (None, NONE):
        signs.append("NVIDIA_VISIBLE_DEVICES")
    reachable = host.exists(_DEVICES[0]) or host.exists(_WSL)
    return signs, host.live and reachable and "libnvidia-ml.so.1" in libraries


def _absent(host: Host) -> Fact:
    if host.exists("/dev/kfd"):
        return unknown("an AMD GPU is there (/dev/kfd), of which only the presence is read")
    return not_applicable("no sign of an NVIDIA GPU")


def _ask(can_ask: bool) -> nvml.Answers:
    library = nvml.load() if can_ask else None
    if library is not None:
        return nvml.ask(library)
    out = nvml.Answers()
    out.problem = "nvidia-ml-py is not installed" if can_ask else "NVML cannot be reached from here"
    return out


def _from_nvml(answers: nvml.Answers, value: Any, what: str) -> Fact:
    if value is not None:
        return ok(value, "nvml")
    if answers.broken:
        return error(answers.problem)
    return unknown(answers.problem or f"NVML does not tell {what}")


def _kernel_driver(host: Host) -> Fact | None:
    """Return the version of the loaded kernel module: its name, then the first dotted number."""
    for line in (host.read(DRIVER_FILE, 4096) or "").splitlines():
        if line.startswith("NVRM version:"):
            for word in line.split():
                if word.count(".") in (1, 2) and word.replace(".", "").isdigit():
                    return ok(word, DRIVER_FILE)
    return None


def _devices(host: Host, answers: nvml.Answers) -> Fact:
    if answers.devices is not None:
        return ok(answers.devices, "nvml")
    if answers.broken:
        return error(answers.problem)
    named = _boards(host)
    if named:
        return ok(named, BOARDS)
    return _from_nvml(answers, None, "the devices")


def _boards(host: Host) -> list[dict[str, Any]]:
    """Return the product names that the kernel module gives, in the order of device numbers."""
    found: list[tuple[int, str]] = []
    for entry in host.listdir(BOARDS) or ():
        fields: dict[str, str] = {}
        for line in (host.read(f"{BOARDS}/{entry}/information", 4096) or "").splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
        minor = fields.get("Device Minor", "")
        if fields.get("Model") and minor.isdigit():
            found.append((int(minor), fields["Model"]))
    return [{"name": name} for _, name in sorted(found)]


def _visible(host: Host, answers: nvml.Answers) -> Fact:
    """Return how many devices the two variables leave, the container's first and then CUDA's."""
    if not host.knows_environ:
        return unknown("the variables of an image are not in its files")
    if answers.devices == []:
        return ok(NONE)
    outer = nvidia_visible(host.environ.get("NVIDIA_VISIBLE_DEVICES"))
    inner = cuda_visible(host.environ.get("CUDA_VISIBLE_DEVICES"), answers.boards)
    if inner == "?":
        return unknown("CUDA_VISIBLE_DEVICES names a device twice")
    if NONE in (outer, inner):
        return ok(NONE)
    if inner not in (None, ALL):
        return ok(inner)
    return ok(outer or ALL)
