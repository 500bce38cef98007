"""`envcheck trace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options
from envcheck.errors import EXIT_CONFORMS
from envcheck.reporting.escape import escape

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Write all layer outputs of one model on this machine to a file, to be compared with
those of another machine or runtime: envcheck parity A.trace B.trace."""
_EXAMPLES = """\
  envcheck trace model.keras --inputs samples.npz -o train.trace
  envcheck trace model.onnx --inputs samples.npz -o deploy.trace"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("trace", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("model", metavar="MODEL", help="a .keras, .h5, .onnx or .tflite file")
    add("--inputs", metavar="FILE", required=True, help="samples, .npz or .npy")
    add("-o", "--output", metavar="FILE", required=True, help="write the trace here")
    add("--import", dest="imports", action="append", default=[], metavar="FILE_OR_MODULE",
        help="import this first: it registers custom layers; may be repeated")  # fmt: skip
    add("--allow-code", action="store_true",
        help="let Python code in the model file (Lambda layers) run on this machine")  # fmt: skip
    add("--runtime", default="", metavar="NAME", help="run a converted model under this runtime")
    add("--time-limit", type=float, default=1800.0, metavar="SECONDS",
        help="after which it is given up (default: 1800)")  # fmt: skip
    add("--memory-limit", default="0", metavar="SIZE",
        help="beyond which it is given up (default: 90 %% of what is free)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Trace, and say how much was written."""
    from envcheck.cli.parity import progress_of, size_of
    from envcheck.conversion.tracing_models import trace

    count = trace(
        options.model,
        options.inputs,
        options.output,
        imports=options.imports,
        allow_code=options.allow_code,
        runtime=options.runtime,
        progress=progress_of(console),
        time_limit=options.time_limit,
        memory_limit=size_of("trace", "--memory-limit", options.memory_limit),
    )
    console.note(f"wrote {count} arrays to {escape(options.output)}")
    return EXIT_CONFORMS
