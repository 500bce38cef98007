"""NVIDIA's management library (NVML), asked through nvidia-ml-py.

Only plain data leaves this module: driver, CUDA version and the devices, never a UUID, a serial
number, a PCI address or anything that changes while the machine works. CPython 3.9.
"""

from __future__ import annotations

from typing import Any, Callable

__all__ = ["Answers", "ask", "load"]


class Answers:
    """What NVML said."""

    def __init__(self) -> None:
        self.problem = ""
        """Name of the NVML error that ended the questions, for example `Driver Not Loaded`."""
        self.broken = False
        """The problem means that programs cannot use the GPU either."""
        self.driver: str | None = None
        self.cuda: str | None = None
        self.boards: int | None = None
        """Number of graphics processors, not counting their instances."""
        self.devices: list[dict[str, Any]] | None = None


_BROKEN = (
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
    "NVML_ERROR_GPU_IS_LOST",
    "NVML_ERROR_IRQ_ISSUE",
    "NVML_ERROR_RESET_REQUIRED",
    "NVML_ERROR_CORRUPTED_INFOROM",
)
_WORDS = {
    "NVML_ERROR_UNINITIALIZED": "NVML could not be initialised",
    "NVML_ERROR_NO_PERMISSION": "this user may not ask NVML",
    "NVML_ERROR_DRIVER_NOT_LOADED": "NVML finds no loaded driver",
    "NVML_ERROR_LIBRARY_NOT_FOUND": "libnvidia-ml.so.1 could not be loaded",
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": "driver and NVML library are of different versions",
    "NVML_ERROR_GPU_IS_LOST": "a GPU has fallen off the bus",
    "NVML_ERROR_RESET_REQUIRED": "a GPU needs a reset",
    "NVML_ERROR_TIMEOUT": "NVML did not answer in time",
}


def load() -> Any:
    """Return the module of nvidia-ml-py, or None if it is not installed."""
    try:
        import pynvml
    except Exception:  # noqa: BLE001  a broken installation is no reason to fail
        return None
    return pynvml if hasattr(pynvml, "nvmlInit") else None


def ask(library: Any) -> Answers:
    """Ask everything; an error ends the questions that depend on it and is kept in words."""
    out = Answers()
    try:
        library.nvmlInit()
    except Exception as trouble:  # noqa: BLE001  NVMLError, or a library of another version
        _note(out, library, trouble)
        return out
    try:
        _ask_all(out, library)
    except Exception as trouble:  # noqa: BLE001
        _note(out, library, trouble)
    finally:
        try:
            library.nvmlShutdown()
        except Exception:  # noqa: BLE001, S110  what was asked is answered already
            pass
    return out


def _ask_all(out: Answers, library: Any) -> None:
    out.driver = _text(_try(library.nvmlSystemGetDriverVersion))
    number = _try(library.nvmlSystemGetCudaDriverVersion)
    if isinstance(number, int) and number > 0:
        out.cuda = f"{number // 1000}.{number % 1000 // 10}"
    count = int(library.nvmlDeviceGetCount())
    out.boards = count
    devices: list[dict[str, Any]] = []
    for index in range(count):
        devices += _board(library, library.nvmlDeviceGetHandleByIndex(index))
    out.devices = devices


def _board(library: Any, handle: Any) -> list[dict[str, Any]]:
    """Return one graphics processor, or its instances where it is split into such."""
    whole = _device(library, handle)
    mode = _try(library.nvmlDeviceGetMigMode, handle)
    if isinstance(mode, (list, tuple)) and mode:
        whole["mig"] = mode[0] == 1
    if not whole.get("mig"):
        return [whole]
    instances = []
    for index in range(_try(library.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
        part = _try(library.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
        if part is None:  # the numbers of instances have gaps
            continue
        instance = _device(library, part)
        instance["mig"] = True
        if "compute_capability" in whole:
            instance.setdefault("compute_capability", whole["compute_capability"])
        instances.append(instance)
    return instances or [whole]


def _device(library: Any, handle: Any) -> dict[str, Any]:
    """Return what is known of a device; what it does not tell is left out."""
    out: dict[str, Any] = {}
    name = _text(_try(library.nvmlDeviceGetName, handle))
    if name:
        out["name"] = name
    capability = _try(library.nvmlDeviceGetCudaComputeCapability, handle)
    if isinstance(capability, (list, tuple)) and len(capability) == 2:
        out["compute_capability"] = f"{capability[0]}.{capability[1]}"
    memory = getattr(_try(library.nvmlDeviceGetMemoryInfo, handle), "total", None)
    if isinstance(memory, int) and memory > 0:
        out["memory_bytes"] = memory
    return out


def _try(question: Callable[..., Any], *args: Any) -> Any:
    """Return one answer, or None where the device, the driver or the binding has none."""
    try:
        return question(*args)
    except Exception:  # noqa: BLE001  NVMLError of any kind, or an older binding
        return None


def _text(value: Any) -> str | None:
    """Return text that older bindings give as bytes."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def _note(out: Answers, library: Any, trouble: Exception) -> None:
    code = getattr(trouble, "value", None)
    for name in (*_WORDS, *_BROKEN):
        if code is not None and getattr(library, name, None) == code:
            out.problem = _WORDS.get(name, name)
            out.broken = name in _BROKEN
            return
    out.problem = f"NVML failed: {trouble}"
