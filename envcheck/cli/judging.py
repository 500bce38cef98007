"""The options that findings depend on, for every command that judges. CPython 3.9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.cli.parsing import one_of

if TYPE_CHECKING:
    import argparse

__all__ = ["add_exit_options", "add_policy_options", "stated"]

_NAMES = ("config", "profile", "waivers", "baseline", "rules", "fail-on", "strict")


def add_policy_options(made: argparse.ArgumentParser) -> None:
    """Add what decides which findings there are."""
    add = made.add_argument
    add("--config", metavar="FILE",
        help="judge by the policy in this file (default: the nearest envcheck.toml)")  # fmt: skip
    add("--profile", metavar="NAME",
        help="bit-exact, onnx-serving, gpu-required, fl4deep, or one of your own")  # fmt: skip
    add("--waivers", metavar="FILE", help="accept the findings that this file waives")
    add("--baseline", metavar="FILE", help="accept the findings that are in this file")
    add("--rules", action="append", metavar="DIR",
        help="add the rule files of a folder; may be repeated")  # fmt: skip


def add_exit_options(made: argparse.ArgumentParser) -> None:
    """Add what decides which findings count."""
    made.add_argument(
        "--fail-on", type=one_of("level", "error", "warning", "never"),
        metavar="error|warning|never", help="what does not conform (default: error)",
    )  # fmt: skip
    made.add_argument(
        "--strict", action="store_true", default=None,
        help="not determined when a rule that could be an error cannot be decided",
    )  # fmt: skip


def stated(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, by long name."""
    given = {name: getattr(options, name.replace("-", "_"), None) for name in _NAMES}
    return {name: value for name, value in given.items() if value is not None}
