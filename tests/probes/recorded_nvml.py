"""A stand-in for nvidia-ml-py that answers from a recording.

A recording is JSON: `driver`, `cuda` and `devices` (`name`, `cc`, `memory`, `mig`,
`max_instances`, `instances`); the name of an NVML error in the place of any answer is raised.
"""

# ruff: noqa: D102, N802 - the methods bear the names of nvidia-ml-py

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CODES", "NVMLError", "RecordedNvml"]

CODES = {
    "NVML_ERROR_UNINITIALIZED": 1,
    "NVML_ERROR_NOT_SUPPORTED": 3,
    "NVML_ERROR_NO_PERMISSION": 4,
    "NVML_ERROR_NOT_FOUND": 6,
    "NVML_ERROR_DRIVER_NOT_LOADED": 9,
    "NVML_ERROR_TIMEOUT": 10,
    "NVML_ERROR_IRQ_ISSUE": 11,
    "NVML_ERROR_LIBRARY_NOT_FOUND": 12,
    "NVML_ERROR_FUNCTION_NOT_FOUND": 13,
    "NVML_ERROR_CORRUPTED_INFOROM": 14,
    "NVML_ERROR_GPU_IS_LOST": 15,
    "NVML_ERROR_RESET_REQUIRED": 16,
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": 18,
    "NVML_ERROR_UNKNOWN": 999,
}
"""The numbers of nvml.h."""


class NVMLError(Exception):
    """An error of NVML with its number, as nvidia-ml-py raises it."""

    def __init__(self, value: int) -> None:
        self.value = value
        super().__init__(f"error {value}")


def _answer(value: Any) -> Any:
    if isinstance(value, str) and value in CODES:
        raise NVMLError(CODES[value])
    return value


class RecordedNvml:
    """The functions of nvidia-ml-py that envcheck calls."""

    NVMLError = NVMLError

    def __init__(self, path: Path, *, as_bytes: bool = False) -> None:
        self._data = json.loads(path.read_text("utf-8"))
        self._as_bytes = as_bytes
        self.open = 0
        """How often it was initialised and not shut down."""
        for name, number in CODES.items():
            setattr(self, name, number)

    def _text(self, text: Any) -> Any:
        found = _answer(text)
        return found.encode() if self._as_bytes and isinstance(found, str) else found

    def nvmlInit(self) -> None:
        _answer(self._data["error"])
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> Any:
        return self._text(self._data["driver"])

    def nvmlSystemGetCudaDriverVersion(self) -> Any:
        return _answer(self._data["cuda"])

    def nvmlDeviceGetCount(self) -> int:
        return len(self._data["devices"])

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        return _answer(self._data["devices"][index])

    def nvmlDeviceGetName(self, handle: Any) -> Any:
        return self._text(handle["name"])

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any:
        return _answer(handle["cc"])

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:
        return SimpleNamespace(total=_answer(handle["memory"]), free=1, used=2)

    def nvmlDeviceGetMigMode(self, handle: Any) -> Any:
        return _answer(handle["mig"])

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Any) -> Any:
        return handle.get("max_instances", 0)

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any:
        return _answer(handle["instances"].get(str(index), "NVML_ERROR_NOT_FOUND"))
