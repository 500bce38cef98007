"""Small environments for tests of the comparison: a few facts instead of a whole capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.comparing.inventory import Inventory
from envcheck.facts import Fact, not_applicable, ok
from envcheck.fingerprint import Fingerprint
from envcheck.policy.model import Policy

if TYPE_CHECKING:
    from envcheck.comparing.checks import Check

__all__ = ["inventory", "made", "misfits", "package"]

HOST: dict[str, Any] = {
    "os.system": "linux",
    "cpu.architecture": "x86_64",
    "cpu.features": ["avx", "avx2", "avx512_vnni"],
    "python.version": "3.11.7",
    "python.implementation": "cpython",
    "python.packages": {"complete": True, "count": 3, "kind": "installed", "nameless": []},
}


def package(version: str | None, **more: Any) -> dict[str, Any]:
    """Return the value of a package's fact."""
    value = {"version": version, "requires": [], "tag": "py3-none-any", **more}
    return {key: item for key, item in value.items() if item is not None}


def made(facts: dict[str, Any], **packages: str | dict[str, Any]) -> Fingerprint:
    """Return a fingerprint; plain values become known facts, None one that does not apply."""
    out: dict[str, Fact] = {}
    for key, value in {**HOST, **facts}.items():
        if isinstance(value, Fact):
            out[key] = value
        else:
            out[key] = not_applicable() if value is None else ok(value)
    for name, value in packages.items():
        spelled = name.replace("_", "-")
        out[f"package.{spelled}"] = ok(package(value) if isinstance(value, str) else value)
    return Fingerprint(facts=out, envelope={"created": "2026-11-30T12:00:00Z"})


def inventory(side: str, fingerprint: Fingerprint, policy: Policy | None = None) -> Inventory:
    """Return the packages of a side."""
    return Inventory(side, fingerprint, policy)


def misfits(checks: list[Check]) -> list[str]:
    """Return the kinds of the checks that are misfits."""
    return sorted(check.kind for check in checks if check.outcome == "misfit")
