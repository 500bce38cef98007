"""The arguments of a comparison, checked, with the defaults of its settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.conversion.children import Limits
from envcheck.conversion.investigation import Options
from envcheck.conversion.runtimes.protocol import Settings
from envcheck.conversion.stores import DEFAULT_BUDGET
from envcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SETTINGS", "Plan", "plan_of"]

TARGETS = ("onnx",)
SETTINGS: dict[str, Any] = {
    "runtime": "", "level": "none", "provider": "", "threads": 0, "opset": 15, "noise": "float64",
    "tolerance": None, "budget": DEFAULT_BUDGET, "most_faults": 8, "time_limit": 1800.0,
    "memory_limit": 0, "cache": True, "isolated": True,
}  # fmt: skip
"""The settings of a comparison and their defaults."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The arguments of `parity`, checked."""

    inputs: Any
    imports: tuple[str, ...]
    allow_code: bool
    repro: str | None
    runtime: str
    settings: Settings
    options: Options
    opset: int
    limits: Limits
    cache: bool
    isolated: bool


def plan_of(  # noqa: PLR0913 - keyword-only, as `parity` takes them
    *,
    inputs: Any,
    to: str,
    imports: Sequence[str],
    allow_code: bool,
    repro: str | os.PathLike[str] | None,
    settings: dict[str, Any],
    progress: Callable[[str], None] | None = None,
    tell: Callable[[dict[str, Any]], None] | None = None,
) -> Plan:
    """Return the plan. Raises UsageError for an unknown target or setting."""
    if to not in TARGETS:
        raise UsageError(f"cannot convert to {to!r}", hint=f"targets are {', '.join(TARGETS)}")
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise UsageError(
            f"unknown setting {unknown[0]}", hint=f"settings are {', '.join(sorted(SETTINGS))}"
        )
    values = {**SETTINGS, **settings}
    return Plan(
        inputs=inputs,
        imports=tuple(imports),
        allow_code=allow_code,
        repro=None if repro is None else os.fspath(repro),
        runtime=values["runtime"],
        settings=Settings(
            **{name: values[name] for name in ("level", "threads", "provider", "budget")}
        ),
        options=Options(
            progress=progress or (lambda _: None),
            tell=tell or (lambda _: None),
            **{name: values[name] for name in ("noise", "tolerance", "budget", "most_faults")},
        ),
        opset=values["opset"],
        limits=Limits(seconds=values["time_limit"], memory_bytes=values["memory_limit"]),
        cache=values["cache"],
        isolated=values["isolated"],
    )
