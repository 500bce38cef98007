"""What macOS and Windows tell through psutil and py-cpuinfo only, for `capture --deep`.

Both start helper processes or cost more than the rest of a capture, so nothing here runs on
Linux or without `--deep`. A package that is missing, or fails, is None.
"""

from __future__ import annotations

__all__ = ["cpu_affinity", "cpu_flags", "memory_total"]


def cpu_flags() -> list[str] | None:
    """Return the instruction sets that py-cpuinfo names, in lower case."""
    try:
        import cpuinfo

        flags = cpuinfo.get_cpu_info().get("flags") or ()
        return sorted(str(flag).lower() for flag in flags) or None
    except Exception:  # noqa: BLE001  a foreign package must not take the capture down
        return None


def cpu_affinity() -> list[int] | None:
    """Return the processors that this process may use, as psutil says."""
    try:
        import psutil

        return sorted(int(number) for number in psutil.Process().cpu_affinity()) or None
    except Exception:  # noqa: BLE001
        return None


def memory_total() -> int | None:
    """Return the memory of the machine in bytes, as psutil says."""
    try:
        import psutil

        return int(psutil.virtual_memory().total) or None
    except Exception:  # noqa: BLE001
        return None
