"""`envcheck rules`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import EXIT_CONFORMS, EXIT_DOES_NOT_CONFORM, EXIT_UNDETERMINED, UsageError
from envcheck.reporting.escape import escape

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
List the rules, check rule files of your own, or run their cases.

  list        every rule: id, severity, name, what it finds
  check DIR   read the .n3 files below DIR and name every mistake with its line
  test DIR    run DIR/cases/*.json, and name rules without a firing and a silent case

Without DIR, check and test take the rules that ship with envcheck."""
_EXAMPLES = """\
  envcheck rules list
  envcheck rules check ./our-rules
  envcheck rules test ./our-rules
  envcheck compare train.json live --rules ./our-rules"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("rules", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("action", type=one_of("action", "list", "check", "test"), metavar="list|check|test",
        help="what to do")  # fmt: skip
    add("folder", nargs="?", metavar="DIR", help="a folder with rule files (.n3)")
    add("--rules", action="append", default=[], metavar="DIR", help="list these rules too")
    add("--format", type=one_of("format", "text", "json"), default="text", metavar="text|json",
        help="of the list (default: text)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """List, check or test."""
    if options.action == "list":
        if options.folder:
            raise UsageError(
                "list takes no folder",
                place="envcheck rules",
                hint=f"write: envcheck rules list --rules {options.folder}",
            )
        return _list(options, console)
    if options.folder is not None and not Path(options.folder).is_dir():
        raise UsageError(f"{options.folder!r} is no folder", place="envcheck rules")
    return _check(options, console) if options.action == "check" else _test(options, console)


def _list(options: argparse.Namespace, console: Console) -> int:
    from envcheck.localisation.rulesets import all_rules
    from envcheck.rulebook.explaining import as_data

    rules = all_rules(options.rules)
    pages = [(rules.book.rule(rule_id), rules.index[rule_id]) for rule_id in rules.book.ids]
    if options.format == "json":
        console.deliver(json.dumps([as_data(*page) for page in pages], indent=2) + "\n", None)
        return EXIT_CONFORMS
    width = max(len(rule.name) for rule, _ in pages)
    lines = [f"{rule.id}  {rule.severity:<7}  {rule.name:<{width}}" for rule, _ in pages]
    console.deliver("\n".join(line.rstrip() for line in lines) + "\n", None)
    return EXIT_CONFORMS


def _check(options: argparse.Namespace, console: Console) -> int:
    from envcheck.comparing.rulesets import builtin_folder, check_folder
    from envcheck.localisation.rulesets import check_training_folder

    folder, built_in = Path(options.folder or builtin_folder()), options.folder is None
    count = check_folder(folder, built_in=built_in)
    count += check_training_folder(folder, built_in=built_in)
    console.deliver(f"{count} rules, no mistakes\n", None)
    return EXIT_CONFORMS


def _test(options: argparse.Namespace, console: Console) -> int:
    """Run the cases; 1 when one goes differently, 3 when there is none."""
    from envcheck.cli.rule_cases import try_environment_cases, try_training_cases

    outcomes = [try_environment_cases(options.folder), try_training_cases(options.folder)]
    lines = [escape(line) for outcome in outcomes for line in outcome.lines]
    count, bad = (sum(getattr(item, name) for item in outcomes) for name in ("cases", "bad"))
    lines.append(f"{count} cases, {bad} not as expected")
    console.deliver("\n".join(lines) + "\n", None)
    if not count:
        return EXIT_UNDETERMINED
    return EXIT_DOES_NOT_CONFORM if bad else EXIT_CONFORMS
