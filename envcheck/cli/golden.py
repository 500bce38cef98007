"""`envcheck golden record` and `envcheck golden replay`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import EXIT_CONFORMS, EXIT_DOES_NOT_CONFORM, UsageError
from envcheck.reporting.escape import escape

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console
    from envcheck.goldens.replaying import Replay

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Record what a model computes where it was trained, and replay that under another
runtime, version or machine.

record runs the model on inputs (given, or invented from a fixed seed), and measures its
noise: repeated, one sample at a time, and under the other settings of the runtime.
replay gives exact, within noise, drift (with its size, and how many decisions flip) or
failed. Exit code 0: exact or within noise, 1: drift or failed.

--entry names your preprocessing: it gets the arrays of --inputs by name and returns the
inputs of the model, so that a tokenizer, a vocabulary or an image decoder is checked.
It is your code and runs; the name inside a golden file is never run by itself."""
_EXAMPLES = """\
  envcheck golden record model.keras -o model.golden
  envcheck golden record model.keras --inputs real.npz -o model.golden
  envcheck golden replay model.onnx --golden model.golden
  envcheck golden record model.keras --inputs photo.jpg --entry app:load -o raw.golden
  envcheck golden replay model.onnx --golden raw.golden --entry app:load"""


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("golden", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("action", type=one_of("action", "record", "replay"), metavar="record|replay",
        help="what to do")  # fmt: skip
    add("model", metavar="MODEL", help="an ONNX or Keras model, or one of a registered runtime")
    add("--inputs", metavar="FILE",
        help="record: .npz or .npy arrays; for --entry any file, as bytes named data")  # fmt: skip
    add("--entry", metavar="MODULE:FUNC", help="the preprocessing that makes the model's inputs")
    add("--samples", type=int, metavar="N", help="record: how many inputs to invent (default: 8)")
    add("--layers", action="store_true",
        help="record: also a digest of what each layer gives, so that replay can name the first"
             " that drifts")  # fmt: skip
    add("--golden", metavar="FILE", help="replay: the recording")
    add("--format", type=one_of("format", "text", "json"), default="text", metavar="text|json",
        help="replay: how to print the result (default: text)")  # fmt: skip
    add("-o", "--output", metavar="FILE",
        help="record: the golden file; replay: the result (default: stdout)")  # fmt: skip
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Record or replay."""
    return _record(options, console) if options.action == "record" else _replay(options, console)


def _record(options: argparse.Namespace, console: Console) -> int:
    if not options.output or options.output == "-":
        raise UsageError(
            "record needs a file to write to", place="envcheck golden record",
            hint="for example: -o model.golden",
        )  # fmt: skip
    from envcheck.goldens.recording import SAMPLES, record_golden

    samples = SAMPLES if options.samples is None else options.samples
    if samples < 1:
        raise UsageError(
            "--samples is at least 1",
            place="envcheck golden record",
            hint="for example: --samples 8",
        )
    golden = record_golden(
        options.model, options.output, inputs=options.inputs, entry=options.entry or "",
        samples=samples, layers=options.layers,
    )  # fmt: skip
    if options.inputs is None:
        console.note("the inputs are invented from a fixed seed; --inputs records real ones")
    for output in golden.outputs:
        sources = ", ".join(f"{name} {size:.1g}" for name, size in output.noise.items())
        console.note(f"noise of {escape(output.name)}: {escape(sources)}")
    if golden.layers:
        console.note(f"digests of {len(golden.layers)} layers")
    console.note(f"wrote {escape(options.output)}")
    return EXIT_CONFORMS


def _replay(options: argparse.Namespace, console: Console) -> int:
    if not options.golden:
        raise UsageError(
            "replay needs a recording", place="envcheck golden replay",
            hint="for example: --golden model.golden",
        )  # fmt: skip
    from envcheck.goldens.replaying import replay_golden

    result = replay_golden(options.model, options.golden, entry=options.entry or "")
    as_json = options.format == "json"
    text = json.dumps(result.to_json(), indent=2, ensure_ascii=True) if as_json else _text(result)
    console.deliver(text + "\n", options.output)
    return EXIT_CONFORMS if result.is_fine else EXIT_DOES_NOT_CONFORM


def _text(result: Replay) -> str:
    lines = [escape(result.summary)]
    for stage, items in result.parts.items():
        for item in items:
            flips = f", {item.flips} of {item.decisions} decisions flip" if item.decisions else ""
            note = f" ({item.note})" if item.note else ""
            lines.append(
                f"  {stage} {escape(item.name)}: {item.verdict}, relative error {item.error:.2g}"
                f" (noise ends at {item.limit:.2g}){flips}{escape(note)}"
            )
    if result.first is not None:
        item = result.first
        lines.append(
            f"  first layer that drifts: {escape(item.name)} {escape(item.note)}, relative error"
            f" {item.error:.2g} (noise ends at {item.limit:.2g})"
        )
    for side, about in (("recorded", result.recorded), ("replayed", result.replayed)):
        if about:
            lines.append(f"  {side} under {escape(_runtime(dict(about)))}")
    lines += [f"  note: {escape(note)}" for note in result.notes]
    return "\n".join(lines)


def _runtime(about: dict[str, object]) -> str:
    return " ".join(str(about[name]) for name in ("runtime", "version", "backend") if name in about)
