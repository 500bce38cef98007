"""`envcheck health`. CPython 3.9, standard library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options
from envcheck.errors import UsageError
from envcheck.reporting.escape import escape
from envcheck.startup import state

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Say what the last self-test of this container came to, from the file that it left: for
HEALTHCHECK and startupProbe, without a shell or curl. Nothing is checked again.

The exit code is that of the self-test (0: it let the application start); 3 when none
has ended yet."""
_EXAMPLES = """\
  ENVCHECK_STATE=/run/envcheck/state.json envcheck health
  envcheck health --state /run/envcheck/state.json"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("health", _DESCRIPTION, _EXAMPLES)
    made.add_argument(
        "--state", metavar="FILE", help="the file of the self-test (default: ENVCHECK_STATE)"
    )
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Print one line and return the exit code of the self-test."""
    path = options.state or os.environ.get(state.VARIABLE)
    if not path:
        raise UsageError(
            "no state file is named",
            place="envcheck health",
            hint="set ENVCHECK_STATE for the self-test and for this, or use --state FILE",
        )
    found = state.read_state(path)
    console.deliver(f"{escape(found.summary)} (checked {escape(found.checked)})\n")
    return found.exit_code
