"""`envcheck embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options
from envcheck.embedding.carriers import embed
from envcheck.errors import EXIT_CONFORMS
from envcheck.fingerprint.reading import read_fingerprint
from envcheck.reporting.escape import escape

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Put a fingerprint into a model, so that the two travel together: into an ONNX file, a
.keras archive or a SavedModel folder; for any other format into MODEL.envcheck.json
beside it. The model computes the same; embedding again replaces what is there."""
_EXAMPLES = """\
  envcheck embed model.onnx train.json
  envcheck embed model.keras train.json
  envcheck capture --role train | envcheck embed model.onnx -
  envcheck embed --beside model.onnx train.json"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("embed", _DESCRIPTION, _EXAMPLES)
    made.add_argument("model", metavar="MODEL", help="the model file or folder")
    made.add_argument("fingerprint", metavar="FINGERPRINT", help="a fingerprint file, or -")
    made.add_argument(
        "--beside", action="store_true", help="write MODEL.envcheck.json, whatever the format"
    )
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Embed, and say where the fingerprint lies."""
    fingerprint = read_fingerprint(options.fingerprint)
    place = embed(options.model, fingerprint, beside=options.beside)
    inside = "in" if place == options.model else "beside the model, in"
    console.note(f"the fingerprint lies {inside} {escape(place)}")
    return EXIT_CONFORMS
