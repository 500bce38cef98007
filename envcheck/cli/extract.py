"""`envcheck extract`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options
from envcheck.embedding.carriers import extract
from envcheck.errors import EXIT_CONFORMS

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Print the fingerprint that a model carries, else the one in MODEL.envcheck.json beside
it. `envcheck compare` and `envcheck selftest` read such a model directly."""
_EXAMPLES = """\
  envcheck extract model.onnx
  envcheck extract model.keras -o train.json"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("extract", _DESCRIPTION, _EXAMPLES)
    made.add_argument("model", metavar="MODEL", help="the model file or folder")
    made.add_argument("-o", "--output", metavar="FILE", help="write here (default: stdout)")
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the fingerprint in its canonical form."""
    console.deliver(extract(options.model).to_text(), options.output)
    return EXIT_CONFORMS
