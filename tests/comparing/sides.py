"""Small fingerprints for tests of single parts of the comparison."""

from __future__ import annotations

from typing import Any

from envcheck.comparing.inventory import Inventory
from envcheck.facts import Fact, ok
from envcheck.fingerprint import Fingerprint

__all__ = ["HOST", "inventory", "package", "side"]

HOST: dict[str, Any] = {
    "os.system": "linux",
    "os.libc_family": "glibc",
    "os.libc_version": "2.36",
    "cpu.architecture": "x86_64",
    "python.version": "3.11.7",
    "python.implementation": "cpython",
    "python.free_threaded": False,
    "python.packages": {"complete": True, "kind": "installed"},
}


def package(version: str | None = "1.0", **fields: Any) -> dict[str, Any]:
    """Return the value of a package fact."""
    return {"version": version, **fields} if version else fields


def side(packages: dict[str, Any] | None = None, **facts: Any) -> Fingerprint:
    """Return a usual host with these packages; `os_system=…` changes a fact, None takes it out."""
    values = {**HOST, **{key.replace("_", ".", 1): value for key, value in facts.items()}}
    known = {
        key: value if isinstance(value, Fact) else ok(value)
        for key, value in values.items()
        if value is not None
    }
    known |= {
        f"package.{name}": value if isinstance(value, Fact) else ok(value)
        for name, value in (packages or {}).items()
    }
    return Fingerprint(known)


def inventory(packages: dict[str, Any] | None = None, **facts: Any) -> Inventory:
    """Return the packages of a deploy side."""
    return Inventory("deploy", side(packages, **facts))
