"""`envcheck schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import EXIT_CONFORMS
from envcheck.schemas import NAMES, schema

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = "Print the JSON Schema (draft 2020-12) of a file that envcheck writes or reads."
_EXAMPLES = """\
  envcheck schema fingerprint
  envcheck schema report -o report.schema.json"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("schema", _DESCRIPTION, _EXAMPLES)
    made.add_argument(
        "name", type=one_of("name", *NAMES), metavar="NAME", help=f"one of {', '.join(NAMES)}"
    )
    made.add_argument("-o", "--output", metavar="FILE", help="write here (default: stdout)")
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the schema."""
    text = json.dumps(schema(options.name), indent=2, ensure_ascii=True) + "\n"
    console.deliver(text, options.output)
    return EXIT_CONFORMS
