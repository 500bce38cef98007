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
    from envcheck.rulebook.loading import Rulebook

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
    from envcheck.comparing.rulesets import load_rules
    from envcheck.rulebook.explaining import as_data

    rules = load_rules(options.rules)
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

    count = check_folder(Path(options.folder or builtin_folder()), built_in=options.folder is None)
    console.deliver(f"{count} rules, no mistakes\n", None)
    return EXIT_CONFORMS


def _has_cases(book: Rulebook, rule_id: str) -> bool:
    """Return whether a pair of fingerprints alone can make a rule fire.

    Rules about the policy itself and rules of a profile need settings beside the pair.
    """
    rule = book.rule(rule_id)
    return not rule.profile and not rule.place.startswith("policy/")


def _test(options: argparse.Namespace, console: Console) -> int:
    """Run the cases; 1 when one goes differently, 3 when there is none."""
    from envcheck.comparing.rulesets import builtin_folder, case_folders, load_rules
    from envcheck.comparing.trials import try_cases

    extra = [options.folder] if options.folder else []
    rules = load_rules(extra)
    known = () if not extra else load_rules([]).book.ids
    own = [rule for rule in rules.book.ids if rule not in known and _has_cases(rules.book, rule)]
    trial = try_cases(case_folders(Path(options.folder or builtin_folder())), rules, own)
    lines = [
        f"{escape(str(result.case))}\n  {escape(result.problem)} ({escape(result.case.place)})"
        for result in trial.results
        if result.problem
    ]
    lines += list(trial.missing)
    bad = sum(bool(result.problem) for result in trial.results)
    lines.append(f"{len(trial.results)} cases, {bad} not as expected")
    console.deliver("\n".join(lines) + "\n", None)
    if not trial.results:
        return EXIT_UNDETERMINED
    return EXIT_DOES_NOT_CONFORM if bad else EXIT_CONFORMS
