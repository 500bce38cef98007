"""`envcheck exec`. CPython 3.9, standard library, until a rule has to be run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser
from envcheck.cli.selftest import add_options
from envcheck.cli.starting import check_start
from envcheck.errors import EXIT_CONFORMS, UsageError
from envcheck.startup.handover import hand_over

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Run `envcheck selftest`, then become the application: the process id stays, signals
reach the application, and nothing of envcheck is left running. When the self-test
fails, the application is not started and the exit code is that of the self-test."""
_EXAMPLES = """\
  envcheck exec --train /model/train.json -- python -m server --port 8080
  envcheck exec --model /model/model.onnx --seal /model/seal.json -- server"""


class _ExecParser(Parser):
    """A parser that leaves everything after `--` alone."""

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        words = list(arguments)
        cut = words.index("--") if "--" in words else len(words)
        options = super().read(words[:cut])
        options.command = words[cut + 1 :]
        return options


def parser() -> Parser:
    """Return the parser of this command."""
    made = _ExecParser("exec", _DESCRIPTION, _EXAMPLES)
    made.usage = "envcheck exec [options] -- CMD [ARG ...]"
    add_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Check, and start the application if the policy lets it."""
    if not options.command:
        raise UsageError(
            "no application is named",
            place="envcheck exec",
            hint="for example: envcheck exec --train train.json -- python -m server",
        )
    result = check_start(options, console, os.environ)
    if result.exit_code != EXIT_CONFORMS:
        return result.exit_code
    sys.stdout.flush()
    return hand_over(options.command)
