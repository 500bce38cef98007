"""`envcheck compare`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from envcheck.cli.console import is_terminal, width_of
from envcheck.cli.parsing import Parser, add_common_options, closest, one_of
from envcheck.configuration import OPTIONS, load_configuration
from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    InputError,
    UsageError,
)
from envcheck.pairing import compare
from envcheck.records import record, replace
from envcheck.reporting.escape import escape
from envcheck.reporting.registry import formats, render
from envcheck.reporting.style import Style

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from envcheck.cli.console import Console
    from envcheck.configuration import Configuration
    from envcheck.findings import Report
    from envcheck.fingerprint import Fingerprint

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
  envcheck compare train.json deploy.json --profile bit-exact --waivers waivers.toml
  envcheck compare train.json deploy.json --format text --format json=report.json
  ssh server envcheck capture | envcheck compare train.json -"""


@record
class _Target:
    """One report to write: its format, and the file, or None for stdout."""

    format: str
    path: str | None


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("compare", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("train", metavar="TRAIN", help="the environment that trained")
    add("deploy", metavar="DEPLOY", help="the environment that is to serve")
    add("--format", action="append", metavar="NAME[=FILE]",
        help=f"{' or '.join(formats())}; may be repeated with files (default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write the report here (default: stdout)")
    add("--fail-on", type=one_of("level", "error", "warning", "never"),
        metavar="error|warning|never",
        help="what makes the exit code 1 (default: error)")  # fmt: skip
    add("--config", metavar="FILE",
        help="read options and policy from here (default: the nearest envcheck.toml)")  # fmt: skip
    add("--profile", metavar="NAME",
        help="bit-exact, onnx-serving, gpu-required, fl4deep, or one of your own")  # fmt: skip
    add("--waivers", metavar="FILE", help="accept the findings that this file waives")
    add("--baseline", metavar="FILE", help="accept the findings that are in this file")
    add("--write-baseline", metavar="FILE", help="write one: accept what is found today")
    add("--seal", metavar="FILE",
        help="if the exit code is 0, write what was accepted, for envcheck selftest")  # fmt: skip
    add("--rules", action="append", metavar="DIR",
        help="add the rule files of a folder; may be repeated")  # fmt: skip
    add("--parity", metavar="FILE",
        help="judge this comparison of the models as well: JSON from envcheck parity")  # fmt: skip
    add("--engine", type=one_of("engine", "builtin", "eye"),
        metavar="builtin|eye",
        help="eye: let an installed EYE confirm what is derived (default: builtin)")  # fmt: skip
    add("--strict", action="store_true", default=None,
        help="exit 3 when a rule that could be an error cannot be decided")  # fmt: skip
    add("--color", type=one_of("when", "auto", "always", "never"),
        metavar="auto|always|never", help="colours in the text (default: auto)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare, write every report that was asked for, and return the verdict's exit code."""
    configuration = _configuration(options)
    console.color = configuration["color"]
    targets = _targets(configuration["format"], options.output)
    if "-" in (options.train, options.deploy) and is_terminal(sys.stdin):
        console.note("reading a fingerprint from the terminal; end it with Ctrl-D")
    train, deploy = options.train, options.deploy
    if options.seal is not None:
        train, deploy = _sides_to_seal(options)
    report = compare(
        train,
        deploy,
        strict=configuration["strict"],
        rules=configuration["rules"] if configuration.rules is None else configuration.rules,
        engine=configuration["engine"],
        policy=configuration.policy,
    )
    report = replace(report, notes=(*_judged_by(configuration), *report.notes))
    if options.write_baseline is not None:
        report = _with_baseline(report, options.write_baseline, console)
    if options.parity is not None:
        report = _with_models(report, options.parity)
    for target in targets:
        to_screen = target.path is None
        style = Style(
            width=width_of(sys.stdout) if to_screen else 80,
            color=console.allows_color(sys.stdout) if to_screen else console.color == "always",
            verbose=console.verbose,
        )
        console.deliver(render(report, target.format, style), target.path)
        if target.path is not None:
            console.note(f"wrote {escape(target.path)}")
    code = _exit_code(report, configuration["fail-on"])
    if options.seal is not None:
        accepted = report if code == EXIT_CONFORMS else None
        _seal(options.seal, train, deploy, accepted, configuration, console)
    return code


def _sides_to_seal(options: argparse.Namespace) -> tuple[Fingerprint, Fingerprint]:
    """Return both sides as fingerprints. Raises UsageError."""
    from envcheck.loading import load_side

    if options.seal == "-":
        raise UsageError(
            "--seal names a file, not -", place="envcheck compare", hint="stdout carries the report"
        )
    return load_side(options.train), load_side(options.deploy)


def _seal(
    path: str,
    train: Fingerprint,
    deploy: Fingerprint,
    accepted: Report | None,
    configuration: Configuration,
    console: Console,
) -> None:
    """Write the seal of a pair that was accepted; say so when it was not."""
    if accepted is None:
        console.note(f"no seal was written to {escape(path)}: the environment was not accepted")
        return
    from envcheck.startup.environment import stamp_of
    from envcheck.startup.judged import digested
    from envcheck.startup.seal import make_seal

    options = {name: setting.value for name, setting in configuration.settings.items()}
    judged = digested({**options, "config": configuration.file})
    console.deliver(make_seal(train, deploy, accepted, stamp_of(deploy), judged), path)
    console.note(f"wrote {escape(path)}")


def _configuration(options: argparse.Namespace) -> Configuration:
    """Return the options with those of variables and file, and the policy.

    Raises ConfigError and UsageError.
    """
    if options.write_baseline == "-":
        raise UsageError(
            "--write-baseline names a file, not -",
            place="envcheck compare",
            hint="stdout carries the report",
        )
    given = {name: getattr(options, name.replace("-", "_")) for name in OPTIONS}
    return load_configuration(options.config, given, with_baseline=options.write_baseline is None)


def _judged_by(configuration: Configuration) -> list[str]:
    """Return a note on the profile and the file that the findings depend on."""
    profile = configuration["profile"]
    parts = [] if profile == "default" else [f"profile {profile}"]
    if configuration.file is not None:
        parts.append(f"policy of {configuration.file}")
    return [f"judged by {' and '.join(parts)}"] if parts else []


def _with_baseline(report: Report, path: str, console: Console) -> Report:
    """Write the baseline of a report, and return the report under it."""
    from envcheck.policy.baseline import accept_all, baseline_text

    text = baseline_text(report.findings)
    console.deliver(text, path)
    console.note(f"wrote {escape(path)}")
    return accept_all(report, path)


def _with_models(report: Report, path: str) -> Report:
    """Return the report with that of a comparison of models in it. Raises InputError."""
    from envcheck.reporting.merging import merged
    from envcheck.reporting.stored import read_report

    models = read_report(path)
    if models.parity is None:
        raise InputError(
            "is no report of envcheck parity",
            place=path,
            hint="write one with: envcheck parity REFERENCE CANDIDATE --format json=FILE",
        )
    return merged(report, models)


def _targets(wanted: Sequence[str], output: str | None) -> list[_Target]:
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
