"""`envcheck parity`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from envcheck.cli.console import is_terminal, width_of
from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    UsageError,
)
from envcheck.reporting.escape import escape
from envcheck.reporting.registry import formats, render
from envcheck.reporting.style import Style

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console
    from envcheck.findings import Report

__all__ = ["parser", "progress_of", "run", "size_of"]

_DESCRIPTION = """\
Compare a Keras model with its conversion, layer by layer: the same function, or the
first layer that is not, how large its own error is, what was done to it, what to do.

REFERENCE is a .keras or .h5 file, a SavedModel folder, or a trace. CANDIDATE is an
.onnx or .tflite file, a SavedModel folder, or a trace; without it, REFERENCE is
converted to ONNX here.

Exit code 0: the same function, 1: not, 2: input error, 3: nothing could be compared."""
_EXAMPLES = """\
  envcheck parity model.keras
  envcheck parity model.keras model.onnx --inputs samples.npz
  envcheck parity model.keras model.onnx --repro fault --format json=parity.json
  envcheck parity model.keras --import layers.py
  envcheck parity train.trace deploy.trace"""
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("parity", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("reference", metavar="REFERENCE", help="the model that was trained")
    add("candidate", metavar="CANDIDATE", nargs="?", help="what is to be deployed")
    add("--inputs", metavar="FILE", help="samples, .npz or .npy (default: invented ones)")
    add("--to", type=one_of("target", "onnx"), default="onnx", metavar="onnx",
        help="what to convert to (default: onnx)")  # fmt: skip
    add("--import", dest="imports", action="append", default=[], metavar="FILE_OR_MODULE",
        help="import this first: it registers custom layers; may be repeated")  # fmt: skip
    add("--allow-code", action="store_true",
        help="let Python code in the model file (Lambda layers) run on this machine")  # fmt: skip
    add("--repro", metavar="DIR", help="write the first fault as a folder that fails alone")
    add("--runtime", default="", metavar="NAME",
        help="onnxruntime, onnx-reference, litert, savedmodel, or one of your own")  # fmt: skip
    add("--level", type=one_of("level", "none", "all"), default="none", metavar="none|all",
        help="all: also say what the runtime's optimisations change (default: none)")  # fmt: skip
    add("--provider", default="", metavar="NAME", help="ONNX Runtime's provider (default: cpu)")
    add("--opset", type=int, default=15, metavar="N", help="of the conversion (default: 15)")
    add("--tolerance", default="auto", metavar="auto|REL",
        help="relative error that counts as the same (default: from float64)")  # fmt: skip
    add("--noise", type=one_of("noise", "float64", "spread", "off"), default="float64",
        metavar="float64|spread|off",
        help="how rounding is measured (default: float64)")  # fmt: skip
    add("--budget", default="512M", metavar="SIZE",
        help="memory for layer outputs per side; the rest is in files (default: 512M)")  # fmt: skip
    add("--max-faults", type=int, default=8, metavar="N", help="stop after N (default: 8)")
    add("--time-limit", type=float, default=1800.0, metavar="SECONDS",
        help="of the conversion, and of the comparison (default: 1800)")  # fmt: skip
    add("--memory-limit", default="0", metavar="SIZE",
        help="of each of the two processes (default: most of what is free)")  # fmt: skip
    add("--no-cache", action="store_true", help="convert again, even what was converted before")
    add("--format", action="append", default=[], metavar="NAME[=FILE]",
        help=f"{' or '.join(formats())}; may be repeated with files (default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="write the report here (default: stdout)")
    add("--fail-on", type=one_of("level", "error", "warning", "never"), default="error",
        metavar="error|warning|never",
        help="what makes the exit code 1 (default: error)")  # fmt: skip
    add("--color", type=one_of("when", "auto", "always", "never"), default="auto",
        metavar="auto|always|never", help="colours in the text (default: auto)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare, write every report that was asked for, and return the verdict's exit code."""
    from envcheck.cli.compare import _targets
    from envcheck.conversion.running import parity

    targets = _targets(options.format, options.output)
    report = parity(
        options.reference,
        options.candidate,
        inputs=options.inputs,
        to=options.to,
        imports=options.imports,
        allow_code=options.allow_code,
        repro=options.repro,
        runtime=options.runtime,
        level=options.level,
        provider=options.provider,
        opset=options.opset,
        noise=options.noise,
        tolerance=_tolerance(options.tolerance),
        budget=size_of("parity", "--budget", options.budget),
        most_faults=options.max_faults,
        time_limit=options.time_limit,
        memory_limit=size_of("parity", "--memory-limit", options.memory_limit),
        cache=not options.no_cache,
        progress=progress_of(console),
    )
    _deliver(report, targets, console)
    return _exit_code(report, options.fail_on)


def progress_of(console: Console) -> Any:
    """Return what tells each step on stderr, where someone watches."""
    if console.quiet or not (console.verbose or is_terminal(sys.stderr)):
        return None
    return lambda step: console.note(escape(f"{step} ..."))


def _deliver(report: Report, targets: list[Any], console: Console) -> None:
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


def _tolerance(text: str) -> float | None:
    if text == "auto":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise UsageError(
            f"--tolerance {text!r} is neither auto nor a number between 0 and 1",
            place="envcheck parity",
        )
    return value


def size_of(command: str, option: str, text: str) -> int:
    """Return a size with the suffix K, M or G in bytes."""
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in _SIZES else (text, "")
    try:
        value = float(number) * _SIZES.get(unit, 1)
    except ValueError:
        value = -1.0
    if value < 0:
        raise UsageError(
            f"{option} {text!r} is no size", place=f"envcheck {command}", hint="for example: 512M"
        )
    return int(value)


def _exit_code(report: Report, fail_on: str) -> int:
    if report.verdict == "undetermined":
        return EXIT_UNDETERMINED
    levels = {"error": ("error",), "warning": ("error", "warning"), "never": ()}[fail_on]
    if any(report.count(level) for level in levels):
        return EXIT_DOES_NOT_CONFORM
    return EXIT_CONFORMS
