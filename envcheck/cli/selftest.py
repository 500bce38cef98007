"""`envcheck selftest`. CPython 3.9, standard library, until a rule has to be run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envcheck.cli.judging import add_exit_options, add_policy_options
from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.cli.starting import check_start
from envcheck.startup.policy import POLICIES
from envcheck.startup.settings import BUDGET, FILES_BUDGET, seconds

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["add_options", "parser", "run"]

_DESCRIPTION = """\
Check this environment against the one that trained, when a container starts. With a
seal (envcheck compare --seal) only what can have changed since release is looked at,
and the rules run only when something has, or when another policy is stated than the
seal was made under. One JSON object per line goes to stderr.

Exit code 0: conforms, 1: does not, 2: a file is wrong, 3: not determined. A policy
changes that: under warn findings exit 0, under open everything does."""
_EXAMPLES = """\
  envcheck selftest --train train.json
  envcheck selftest --model model.onnx --seal seal.json --budget 2
  ENVCHECK_POLICY=warn envcheck selftest --train train.json --files"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("selftest", _DESCRIPTION, _EXAMPLES)
    add_options(made)
    return made


def add_options(made: argparse.ArgumentParser) -> None:
    """Add what `selftest` and `exec` have in common."""
    add = made.add_argument
    add("--train", metavar="FILE",
        help="the train fingerprint (default: ENVCHECK_TRAIN, else the model's own)")  # fmt: skip
    add("--model", metavar="PATH",
        help="the model that is served: its content is checked, and without --train the"
             " fingerprint that it carries is used (default: ENVCHECK_MODEL)")  # fmt: skip
    add("--seal", metavar="FILE",
        help="what was accepted at release (default: ENVCHECK_SEAL)")  # fmt: skip
    add("--golden", metavar="FILE",
        help="also replay recorded inputs, which loads the model (default:"
             " ENVCHECK_GOLDEN)")  # fmt: skip
    add("--entry", metavar="MODULE:FUNC", help="the preprocessing of the golden's raw inputs")
    add("--policy", type=one_of("policy", *POLICIES), metavar="|".join(POLICIES),
        help="what may start: closed: what conforms; warn: findings are only logged;"
             " open: everything (default: closed; ENVCHECK_POLICY comes first)")  # fmt: skip
    add("--budget", type=_seconds, metavar="SECONDS",
        help=f"time for the check; what is not reached is not determined (default:"
             f" ENVCHECK_BUDGET, else {BUDGET:g})")  # fmt: skip
    add("--files", action="store_true",
        help="also compare the files of distributions with their RECORD")  # fmt: skip
    add("--files-budget", type=_seconds, metavar="SECONDS",
        help=f"time for --files, on top of the budget (default: {FILES_BUDGET:g})")  # fmt: skip
    add_policy_options(made)
    add_exit_options(made)
    add_common_options(made)


def _seconds(text: str) -> float:
    return seconds(text, "envcheck selftest")


def run(options: argparse.Namespace, console: Console) -> int:
    """Check, log, and return the exit code under the policy."""
    return check_start(options, console, os.environ).exit_code
