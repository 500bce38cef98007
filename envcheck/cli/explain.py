"""`envcheck explain`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options, closest, one_of
from envcheck.errors import EXIT_CONFORMS, UsageError
from envcheck.rulebook.explaining import as_data, as_markdown, as_text

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Say what a rule finds, what happens if you ship it, how to fix it, when it stays silent,
and how we know. Names in {braces} stand for what a finding fills in."""
_EXAMPLES = """\
  envcheck explain ENV031
  envcheck explain older-reader-than-writer
  envcheck explain ENV031 --format json"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("explain", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("rule", metavar="RULE", help="an id (ENV031), the name of a rule, or a fault")
    add("--rules", action="append", default=[], metavar="DIR", help="also know these rules")
    add("--format", type=one_of("format", "text", "markdown", "json"), default="text",
        metavar="text|markdown|json", help="(default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write here (default: stdout)")
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the documentation of every rule that is meant."""
    from envcheck.localisation.rulesets import all_rules

    rules = all_rules(options.rules)
    wanted = options.rule
    if wanted.upper().startswith("CNV"):
        return _conversion(wanted.upper(), options, console)
    ids = [
        rule_id
        for rule_id in rules.book.ids
        if wanted.upper() == rule_id
        or wanted in (rules.book.rule(rule_id).name, rules.book.rule(rule_id).fault)
    ]
    if not ids:
        names = [*rules.book.ids, *(rules.book.rule(rule_id).name for rule_id in rules.book.ids)]
        guess = closest(wanted, names) or closest(wanted.upper(), names)
        hint = f"did you mean {guess}?" if guess else "envcheck rules list shows all rules"
        raise UsageError(f"no rule {wanted!r}", place="envcheck explain", hint=hint)
    pages = [(rules.book.rule(rule_id), rules.index[rule_id]) for rule_id in ids]
    if options.format == "json":
        data = [as_data(*page) for page in pages]
        text = json.dumps(data[0] if len(data) == 1 else data, indent=2) + "\n"
    else:
        draw = as_text if options.format == "text" else as_markdown
        text = "\n".join(draw(*page) for page in pages)
    console.deliver(text, options.output)
    return EXIT_CONFORMS


def _conversion(rule: str, options: argparse.Namespace, console: Console) -> int:
    """Print the page of a rule that compares models, which is code and not data."""
    from envcheck.conversion.rule_pages import page, pages

    if rule not in pages():
        raise UsageError(
            f"no rule {rule!r}", place="envcheck explain", hint=f"there are {', '.join(pages())}"
        )
    text = page(rule)
    if options.format == "json":
        text = json.dumps({"id": rule, "text": text}, indent=2) + "\n"
    console.deliver(text, options.output)
    return EXIT_CONFORMS
