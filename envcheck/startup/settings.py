"""What a self-test is asked to do: options first, then `ENVCHECK_*` variables.

`ENVCHECK_POLICY` alone comes before its option: whoever deploys may loosen or tighten what the
image says, and a loosened policy is logged. CPython 3.9, standard library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from envcheck.errors import UsageError
from envcheck.records import record
from envcheck.startup.policy import CLOSED, POLICIES, is_looser

__all__ = ["BUDGET", "FILES_BUDGET", "Settings", "make_settings", "seconds"]

BUDGET = 30.0
FILES_BUDGET = 10.0
_NAMES = ("train", "seal", "model", "golden")


@record
class Settings:
    """What to check against what, how long, and what happens when it does not conform."""

    train: str = ""
    seal: str = ""
    model: str = ""
    golden: str = ""
    entry: str = ""
    config: str = ""
    policy: str = CLOSED
    loosened_from: str = ""
    """The policy that `ENVCHECK_POLICY` loosened, or empty."""
    budget: float = BUDGET
    files: bool = False
    files_budget: float = FILES_BUDGET


def make_settings(options: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    """Return the settings for options (None is not given) and variables. Raises UsageError."""
    paths = {name: _path(name, options, environ) for name in _NAMES}
    stated = str(options.get("policy") or CLOSED)
    policy = environ.get("ENVCHECK_POLICY") or stated
    if policy not in POLICIES:
        raise UsageError(
            f"{policy!r} is none of {', '.join(POLICIES)}",
            place="ENVCHECK_POLICY",
            hint="closed: only what conforms starts; warn: findings are logged; open: all starts",
        )
    budget = options.get("budget")
    if budget is None and environ.get("ENVCHECK_BUDGET"):
        budget = seconds(environ["ENVCHECK_BUDGET"], "ENVCHECK_BUDGET")
    files_budget = options.get("files_budget")
    return Settings(
        **paths,
        entry=str(options.get("entry") or ""),
        config=str(options.get("config") or ""),
        policy=policy,
        loosened_from=stated if is_looser(policy, stated) else "",
        budget=_number(budget, BUDGET),
        files=bool(options.get("files")) or files_budget is not None,
        files_budget=_number(files_budget, FILES_BUDGET),
    )


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
