"""What a self-test is asked to do: options first, then `ENVCHECK_*` variables.

`ENVCHECK_POLICY` alone comes before its option: whoever deploys may loosen or tighten what the
image says, and a loosened policy is logged. CPython 3.9, standard library, as long as no option
is stated that findings depend on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from envcheck.errors import UsageError
from envcheck.records import field, record
from envcheck.startup.judged import JUDGING
from envcheck.startup.policy import CLOSED, POLICIES, is_looser

__all__ = ["BUDGET", "FILES_BUDGET", "Settings", "make_settings", "policy_of", "seconds"]

BUDGET = 30.0
FILES_BUDGET = 10.0
_NAMES = ("train", "seal", "model", "golden")
_PREFIX = "ENVCHECK_"
_OURS = frozenset((
    "TRAIN", "SEAL", "MODEL", "GOLDEN", "POLICY", "BUDGET", "STATE", "TERMINATION_LOG", "DEBUG",
))  # fmt: skip
"""Variables that are read here or that no finding depends on."""


@record
class Settings:
    """What to check against what, how long, and what happens when it does not conform."""

    train: str = ""
    seal: str = ""
    model: str = ""
    golden: str = ""
    entry: str = ""
    stated: dict[str, Any] = field(default_factory=dict)
    """Options that findings depend on, as the command line or variables state them."""
    policy: str = CLOSED
    loosened_from: str = ""
    """The policy that `ENVCHECK_POLICY` loosened, or empty."""
    budget: float = BUDGET
    files: bool = False
    files_budget: float = FILES_BUDGET


def make_settings(options: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    """Return the settings for options (None is not given) and variables.

    Raises ConfigError and UsageError.
    """
    policy, loosened_from = policy_of(options, environ)
    paths = {name: _path(name, options, environ) for name in _NAMES}
    budget = options.get("budget")
    if budget is None and environ.get("ENVCHECK_BUDGET"):
        budget = seconds(environ["ENVCHECK_BUDGET"], "ENVCHECK_BUDGET")
    files_budget = options.get("files_budget")
    return Settings(
        **paths,
        entry=str(options.get("entry") or ""),
        stated=_stated(options, environ),
        policy=policy,
        loosened_from=loosened_from,
        budget=_number(budget, BUDGET),
        files=bool(options.get("files")) or files_budget is not None,
        files_budget=_number(files_budget, FILES_BUDGET),
    )


def policy_of(options: Mapping[str, object], environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the policy, and the one that `ENVCHECK_POLICY` loosened. Raises UsageError."""
    stated = str(options.get("policy") or CLOSED)
    policy = environ.get("ENVCHECK_POLICY") or stated
    if policy not in POLICIES:
        raise UsageError(
            f"{policy!r} is none of {', '.join(POLICIES)}",
            place="ENVCHECK_POLICY",
            hint="closed: only what conforms starts; warn: findings are logged; open: all starts",
        )
    return policy, stated if is_looser(policy, stated) else ""


def _stated(options: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what the command line says, then variables. Raises ConfigError."""
    given = {name: options.get(name.replace("-", "_")) for name in JUDGING}
    found = {name: value for name, value in given.items() if value is not None}
    others = [
        name
        for name, value in environ.items()
        if value and name.startswith(_PREFIX) and name[len(_PREFIX) :] not in _OURS
    ]
    if others:
        from envcheck.configuration.options import from_environment

        for name, setting in from_environment(environ).items():
            if name in JUDGING:
                found.setdefault(name, setting.value)
    return found


def _path(name: str, options: Mapping[str, object], environ: Mapping[str, str]) -> str:
    return str(options.get(name) or environ.get(f"ENVCHECK_{name.upper()}") or "")


def _number(value: object, default: float) -> float:
    return value if isinstance(value, float) else default


def seconds(text: str, place: str) -> float:
    """Return a number of seconds: `2`, `0.5` or `2s`. Raises UsageError."""
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = math.nan
    if not (0 <= value < math.inf):
        raise UsageError(
            f"{text!r} is no number of seconds", place=place, hint="for example: --budget 2"
        )
    return value
