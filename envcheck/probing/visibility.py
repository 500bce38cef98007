"""How many GPUs the variables of CUDA and of NVIDIA's container toolkit leave visible.

Both may hold the UUIDs of devices, which identify a machine, so only a count leaves this module.
CPython 3.9, standard library.
"""

from __future__ import annotations

__all__ = ["ALL", "NONE", "cuda_visible", "kind_of_list", "nvidia_visible"]

ALL = "all"
NONE = "none"


def nvidia_visible(value: str | None) -> str | None:
    """Return all, none or a count for NVIDIA_VISIBLE_DEVICES; None where it is not set.

    Empty, `void` and `none` give a container no device (NVIDIA container toolkit, "Enumeration").
    """
    if value is None:
        return None
    text = value.strip().lower()
    if text in ("", "void", "none"):
        return NONE
    if text == "all":
        return ALL
    return str(len({part for part in text.split(",") if part.strip()}))


def cuda_visible(value: str | None, boards: int | None = None) -> str | None:
    """Return none or a count for CUDA_VISIBLE_DEVICES; None where it is not set, `?` if unclear.

    Devices after the first invalid entry are hidden (CUDA programming guide, "CUDA Environment
    Variables"); with the number of `boards` known, a higher index is invalid too.
    """
    if value is None:
        return None
    seen = []
    for part in value.split(","):
        entry = part.strip()
        if entry.isdigit():
            if boards is not None and int(entry) >= boards:
                break
            entry = str(int(entry))
        elif not entry.upper().startswith(("GPU-", "MIG-")):
            break
        seen.append(entry)
    if len(set(seen)) != len(seen):
        return "?"
    return str(len(seen)) if seen else NONE


def kind_of_list(value: str) -> str:
    """Return in words what a list of devices holds, for example `2 by index`."""
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if all(part.isdigit() for part in parts):
        return f"{len(parts)} by index"
    if all(part.upper().startswith("MIG-") or ":" in part for part in parts):
        return f"{len(parts)} by MIG instance"
    if all(part.upper().startswith("GPU-") for part in parts):
        return f"{len(parts)} by UUID"
    return f"{len(parts)} mixed"
