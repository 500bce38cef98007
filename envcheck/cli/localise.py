"""`envcheck localise`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import UsageError
from envcheck.reporting.escape import escape
from envcheck.reporting.registry import formats

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console
    from envcheck.configuration import Configuration
    from envcheck.findings import Report
    from envcheck.localisation.running import Run

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Run a Keras training script as `python SCRIPT ARGS` would, watch its training, and name
its faults: cause, layer, source line, evidence, fix. The script is not edited, its
result stays the same bit for bit, and its output passes through; the report goes to
stderr, or to a file. Options of envcheck stand before SCRIPT; what follows is its own.

Exit code 0: no fault, 1: faults, 3: there was no training to judge. The script's own
exit code stands in the report."""
_EXAMPLES = """\
  envcheck localise train.py --epochs 3
  envcheck localise --json report.json train.py
  envcheck localise --max-seconds 600 --record training.json train.py
  envcheck localise --fail-on never --script-exit train.py && python evaluate.py"""


class _LocaliseParser(Parser):
    """A parser that leaves the script's own arguments alone."""

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        words = list(arguments)
        cut = self._start_of_script(words)
        options = super().read(words[:cut])
        rest = words[cut:]
        if rest[:1] == ["--"]:
            rest = rest[1:]
        options.script, options.arguments = (rest[0], rest[1:]) if rest else (None, [])
        return options

    def _start_of_script(self, words: list[str]) -> int:
        """Return the place of the first word that is neither an option nor the value of one."""
        takes_value = {
            name: action.nargs != 0 for action in self._actions for name in action.option_strings
        }
        index = 0
        while index < len(words):
            word = words[index]
            if word == "--" or not word.startswith("-") or word == "-":
                return index
            index += 2 if takes_value.get(word, False) else 1
        return min(index, len(words))


def parser() -> Parser:
    """Return the parser of this command."""
    made = _LocaliseParser("localise", _DESCRIPTION, _EXAMPLES)
    made.usage = "envcheck localise [options] SCRIPT [ARG ...]"
    add = made.add_argument
    add("--json", metavar="FILE", help="short for --format json=FILE")
    add("--record", metavar="FILE", help="keep the training log in this file")
    add("--against", metavar="FINGERPRINT",
        help="also compare this environment with the other side, train or deploy")  # fmt: skip
    add("--max-seconds", type=_seconds, metavar="N",
        help="interrupt the script after N seconds and report on what was seen")  # fmt: skip
    add("--script-exit", action="store_true", help="exit with the script's code, not the verdict's")
    add("--format", action="append", metavar="NAME[=FILE]",
        help=f"{' or '.join(formats())}; may be repeated with files (default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write the report here (default: stderr)")
    add("--fail-on", type=one_of("level", "error", "warning", "never"),
        metavar="error|warning|never",
        help="what makes the exit code 1 (default: error)")  # fmt: skip
    add("--config", metavar="FILE",
        help="read options and policy from here (default: the nearest envcheck.toml)")  # fmt: skip
    add("--profile", metavar="NAME", help="fl4deep, or one of your own (default: default)")
    add("--waivers", metavar="FILE", help="accept the findings that this file waives")
    add("--baseline", metavar="FILE", help="accept the findings that are in this file")
    add("--rules", action="append", metavar="DIR",
        help="add the rule files of a folder; may be repeated")  # fmt: skip
    add("--engine", type=one_of("engine", "builtin", "eye"),
        metavar="builtin|eye",
        help="eye: let an installed EYE confirm what is derived (default: builtin)")  # fmt: skip
    add("--strict", action="store_true", default=None,
        help="exit 3 when a rule that could be an error cannot be decided")  # fmt: skip
    add("--color", type=one_of("when", "auto", "always", "never"),
        metavar="auto|always|never", help="colours in the text (default: auto)")  # fmt: skip
    add_common_options(made)
    return made


def _seconds(text: str) -> float:
    """Return a positive number of seconds; argparse tells the user of what this raises."""
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise ValueError(text)
    return value


_seconds.__name__ = "number of seconds"


def run(options: argparse.Namespace, console: Console) -> int:
    """Run the script, judge its training, deliver the reports, and return the exit code."""
    if options.script is None:
        raise UsageError(
            "no script is named",
            place="envcheck localise",
            hint="for example: envcheck localise train.py --epochs 3",
        )
    configuration, targets = _prepared(options, console)
    from envcheck.localisation.running import run_recorded

    recorded = run_recorded(options.script, options.arguments, max_seconds=options.max_seconds)
    if options.record is not None:
        _keep(recorded, options.record, console)
    report = _judged(recorded, configuration, options.against)
    _deliver(report, targets, console)
    if options.script_exit:
        return recorded.exit_code if recorded.exit_code >= 0 else 128 - recorded.exit_code
    from envcheck.cli.compare import _exit_code

    return _exit_code(report, configuration["fail-on"])


def _prepared(options: argparse.Namespace, console: Console) -> tuple[Configuration, list[Any]]:
    """Return the settled options and the reports to write. Raises before the script is run."""
    from envcheck.cli.compare import _targets
    from envcheck.configuration import OPTIONS, load_configuration

    given = {name: getattr(options, name.replace("-", "_")) for name in OPTIONS}
    if options.json is not None:
        given["format"] = [*(options.format or ()), f"json={options.json}"]
    configuration = load_configuration(options.config, given)
    console.color = configuration["color"]
    try:
        return configuration, _targets(configuration["format"], options.output)
    except UsageError as problem:
        problem.place = "envcheck localise"
        raise


def _keep(recorded: Run, path: str, console: Console) -> None:
    from envcheck.localisation.recording.writing import log_text

    console.deliver(log_text(recorded.log), path)
    console.note(f"wrote {escape(path)}")


def _judged(recorded: Run, configuration: Configuration, against: str | None) -> Report:
    """Return the report on the run, and on its environment if there is another to compare with."""
    from envcheck.localisation.programs import judge_run

    return judge_run(
        recorded,
        against=against or None,
        rules=configuration["rules"],
        policy=configuration.policy,
        strict=configuration["strict"],
        engine=configuration["engine"],
    )


def _deliver(report: Report, targets: list[Any], console: Console) -> None:
    from envcheck.cli.console import width_of
    from envcheck.reporting.registry import render
    from envcheck.reporting.style import Style

    for target in targets:
        to_screen = target.path is None
        style = Style(
            width=width_of(sys.stderr) if to_screen else 80,
            color=console.allows_color(sys.stderr) if to_screen else console.color == "always",
            verbose=console.verbose,
        )
        text = render(report, target.format, style)
        if to_screen:
            console.tell(text)
        else:
            console.deliver(text, target.path)
            console.note(f"wrote {escape(target.path)}")
