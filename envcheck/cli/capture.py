"""`envcheck capture`. CPython 3.9, standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.capturing import capture
from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import EXIT_CONFORMS, NothingChecked
from envcheck.fingerprint.document import ROLES, Fingerprint
from envcheck.reporting.escape import escape, shorten

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Write the fingerprint of an environment: operating system, CPU, limits, interpreter,
installed distributions, native libraries, GPU, and environment variables that change
results. Nothing is installed, imported or changed; secrets are left out."""
_EXAMPLES = """\
  envcheck capture --role train -o train.json
  envcheck capture --role deploy --model model.onnx -o deploy.json
  envcheck capture --python /opt/app/venv/bin/python -o app.json
  envcheck capture --root ./unpacked-image --role deploy -o image.json
  ssh server envcheck capture | envcheck compare train.json -"""
_MOST_REASONS = 5
_NAMES = {"cpython": "CPython", "pypy": "PyPy", "linux": "Linux", "darwin": "macOS"}


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("capture", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("-o", "--output", metavar="FILE", help="write here, whole or not at all (default: stdout)")
    add("--role", type=one_of("role", *ROLES), metavar="train|deploy", help="label the result")
    add("--model", action="append", default=[], metavar="PATH",
        help="also record what this model file needs; may be repeated")  # fmt: skip
    add("--file", action="append", default=[], metavar="PATH",
        help="also record the size and digest of this file; may be repeated")  # fmt: skip
    add("--python", metavar="EXE", help="look at this interpreter (CPython 3.9 or newer) instead")
    add("--root", metavar="DIR", help="look at the unpacked image in this folder instead")
    add("--deep", action="store_true", help="also run slow probes, which may start processes")
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Capture, write, and say in a line or two what was found."""
    fingerprint = capture(
        role=options.role,
        files=options.file,
        models=options.model,
        python=options.python,
        root=options.root,
        deep=options.deep,
    )
    if not any(fact.is_ok for fact in fingerprint.facts.values()):
        raise NothingChecked(
            "not a single fact could be found out",
            place=options.root or options.python or "",
            hint="nothing was written; --root takes the folder that holds an image's etc and usr",
        )
    console.deliver(fingerprint.to_text(), options.output)
    console.note("\n".join(summary(fingerprint, verbose=console.verbose)))
    if options.output not in (None, "-"):
        console.note(f"wrote {escape(options.output)}")
    return EXIT_CONFORMS


def summary(fingerprint: Fingerprint, *, verbose: bool) -> list[str]:
    """Return what was captured, and which facts are not known and why."""
    facts = fingerprint.facts
    named = [_value(fingerprint, key) for key in ("os.system", "cpu.architecture")]
    python = " ".join(
        _value(fingerprint, key) for key in ("python.implementation", "python.version")
    )
    lines = [
        (
            f"captured {escape(python)} on {escape(' '.join(named))}: {len(facts)} facts,"
            f" {len(fingerprint.family('package'))} of them distributions"
        )
    ]
    reasons: dict[str, list[str]] = {}
    for key, fact in facts.items():
        if fact.is_open:
            reasons.setdefault(fact.reason, []).append(key)
    if not reasons:
        return lines
    count = sum(len(keys) for keys in reasons.values())
    lines.append(f"not known: {count} of them")
    shown = len(reasons) if verbose else _MOST_REASONS
    for reason, keys in list(reasons.items())[:shown]:
        names = ", ".join(keys if verbose else keys[:3])
        more = "" if verbose or len(keys) <= 3 else f" and {len(keys) - 3} more"
        lines.append(f"  {escape(names)}{more}: {escape(shorten(reason, 120))}")
    if len(reasons) > shown:
        lines.append(f"  and {len(reasons) - shown} more reasons (-v shows them)")
    return lines


def _value(fingerprint: Fingerprint, key: str) -> str:
    fact = fingerprint.fact(key)
    if not fact.is_ok:
        return f"({key.partition('.')[2]} not known)"
    return _NAMES.get(str(fact.value), str(fact.value))
