"""`envcheck compare`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from envcheck.cli.console import is_terminal, width_of
from envcheck.cli.parsing import Parser, add_common_options, closest, one_of
from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    UsageError,
)
from envcheck.pairing import compare
from envcheck.reporting.escape import escape
from envcheck.reporting.registry import formats, render
from envcheck.reporting.style import Style

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console
    from envcheck.findings import Report

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Judge a deploy environment by the train environment: what differs, what it breaks, and
what to type. Exit code 0: conforms, 1: does not, 3: nothing could be checked.

Each side is a fingerprint file, a requirements*.txt or pylock*.toml file, `-` for
standard input, or `live` for this interpreter, now."""
_EXAMPLES = """\
  envcheck compare train.json deploy.json
  envcheck compare train.json live --fail-on warning
  envcheck compare train.json requirements.txt
  envcheck compare train.json deploy.json --format text --format json=report.json
  ssh server envcheck capture | envcheck compare train.json -"""


class _Target(NamedTuple):
    """One report to write: its format, and the file, or None for stdout."""

    format: str
    path: str | None


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("compare", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("train", metavar="TRAIN", help="the environment that trained")
    add("deploy", metavar="DEPLOY", help="the environment that is to serve")
    add("--format", action="append", default=[], metavar="NAME[=FILE]",
        help=f"{' or '.join(formats())}; may be repeated with files (default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write the report here (default: stdout)")
    add("--fail-on", type=one_of("level", "error", "warning", "never"), default="error",
        metavar="error|warning|never",
        help="what makes the exit code 1 (default: error)")  # fmt: skip
    add("--rules", action="append", default=[], metavar="DIR",
        help="add the rule files of a folder; may be repeated")  # fmt: skip
    add("--engine", type=one_of("engine", "builtin", "eye"), default="builtin",
        metavar="builtin|eye",
        help="eye: let an installed EYE confirm what is derived (default: builtin)")  # fmt: skip
    add("--strict", action="store_true",
        help="exit 3 when a rule that could be an error cannot be decided")  # fmt: skip
    add("--color", type=one_of("when", "auto", "always", "never"), default="auto",
        metavar="auto|always|never", help="colours in the text (default: auto)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare, write every report that was asked for, and return the verdict's exit code."""
    targets = _targets(options.format, options.output)
    if "-" in (options.train, options.deploy) and is_terminal(sys.stdin):
        console.note("reading a fingerprint from the terminal; end it with Ctrl-D")
    report = compare(
        options.train,
        options.deploy,
        strict=options.strict,
        rules=options.rules,
        engine=options.engine,
    )
    for target in targets:
        to_screen = target.path is None
        style = Style(
            width=width_of(sys.stdout) if to_screen else 80,
            color=console.allows_color(sys.stdout) if to_screen else options.color == "always",
            verbose=console.verbose,
        )
        console.deliver(render(report, target.format, style), target.path)
        if target.path is not None:
            console.note(f"wrote {escape(target.path)}")
    return _exit_code(report, options.fail_on)


def _targets(wanted: list[str], output: str | None) -> list[_Target]:
    """Return the reports to write; at most one goes to stdout or `-o`."""
    output = None if output == "-" else output
    targets = []
    for word in wanted or ["text"]:
        name, equals, path = word.partition("=")
        if name not in formats():
            guess = closest(name, formats())
            hint = f"did you mean {guess}?" if guess else f"formats: {', '.join(formats())}"
            raise UsageError(f"unknown format {name!r}", place="envcheck compare", hint=hint)
        if equals and not path:
            raise UsageError(
                f"--format {word} names no file",
                place="envcheck compare",
                hint=f"for example: --format {name}=report.{name}",
            )
        targets.append(_Target(name, output if not equals or path == "-" else path))
    paths = [target.path for target in targets]
    if len(set(paths)) < len(paths):
        raise UsageError(
            "two reports would go to the same place",
            place="envcheck compare",
            hint="give all but one a file: --format text --format json=report.json",
        )
    if output is not None and output not in paths:
        targets.append(_Target("text", output))
    return targets


def _exit_code(report: Report, fail_on: str) -> int:
    if report.verdict == "undetermined":
        return EXIT_UNDETERMINED
    levels = {"error": ("error",), "warning": ("error", "warning"), "never": ()}[fail_on]
    if any(report.count(level) for level in levels):
        return EXIT_DOES_NOT_CONFORM
    return EXIT_CONFORMS
