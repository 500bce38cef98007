"""Sentences that several formats share: the verdict, the two sides, values, counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envcheck.reporting.escape import escape, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.findings import Finding, Report

__all__ = [
    "counted",
    "inside_of",
    "place_of",
    "rules_sentence",
    "side_line",
    "sides",
    "spots",
    "value_text",
    "values_of",
    "verdict_sentence",
    "verdict_words",
]

MOST_OF_A_VALUE = 160
_MOST_DIGITS = 12
"""Characters of a float beyond which it is rounded to six digits."""
_SYSTEM_NAMES = {"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
_INTERPRETER_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


def counted(number: int, noun: str) -> str:
    """Return `1 error`, `2 errors`, `no errors`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def verdict_words(report: Report) -> str:
    """Return the verdict in capitals."""
    return report.verdict.replace("_", " ").upper()


def verdict_sentence(report: Report) -> str:
    """Return the numbers behind the verdict and the two sides it is about."""
    named = ("run",) if "run" in report.inputs else ("deploy", "train")
    about = " against ".join(side_name(report, side) for side in named)
    undecided = sum(outcome.severity == "error" for outcome in report.undetermined)
    if report.rules_checked == 0:
        told = "nothing could be checked"
    elif report.verdict == "undetermined" and report.open_stages:
        told = f"the {' and the '.join(report.open_stages)} could not be decided"
    elif report.verdict == "undetermined":
        told = f"{counted(undecided, 'possible error')} not decided, which strict does not accept"
    else:
        told = ", ".join(counted(report.count(level), level) for level in ("error", "warning"))
    return f"{told} ({about})"


def sides(report: Report) -> list[tuple[str, str, str]]:
    """Return what was judged: a label, the name of the side, and a line about it."""
    labels = {"train": "train", "deploy": "deploy"}
    if report.parity is not None and "reference" not in report.inputs:
        labels = {"train": "reference", "deploy": "candidate"}
    elif "run" in report.inputs:
        labels = {"run": "script"}
    labels |= {side: side for side in ("reference", "candidate") if side in report.inputs}
    return [
        (label, side_name(report, side), side_line(label, report.inputs.get(side, {})))
        for side, label in labels.items()
    ]


def side_name(report: Report, side: str) -> str:
    """Return the short name of a side: the file it was read from."""
    origin = str(report.inputs.get(side, {}).get("place") or "")
    if origin == "live":
        return "this machine"
    return escape(shorten(origin, 80)) or f"the {side} side"


def side_line(side: str, about: Mapping[str, Any]) -> str:
    """Return one line about a side: interpreter, system, size, capture."""
    kind = about.get("kind")
    if kind == "training":
        return escape(_run(about))
    size = about.get("packages")
    parts = [
        f"intended by a {kind} file" if kind not in (None, "", "installed") else "",
        _python(about),
        _system(about),
        _runtime(about),
        counted(int(size), "distribution") if size is not None else "",
        _captured(side, about),
    ]
    return escape(", ".join(part for part in parts if part))


def _run(about: Mapping[str, Any]) -> str:
    """Return what was seen of a training script, and how it ended."""
    keras, backend = about.get("keras"), about.get("backend")
    numbers = [
        counted(number, noun)
        for name, noun in (("models", "model"), ("fits", "training"), ("epochs", "epoch"),
                           ("steps", "step"))
        if isinstance(number := about.get(name), int) and number
    ]  # fmt: skip
    code = about.get("exit_code")
    parts = [
        f"Keras {keras}{f' on {backend}' if backend else ''}" if keras else "",
        *numbers,
        f"stopped by {about['interrupted']}" if about.get("interrupted") else "",
        f"ended by {about['exception']}" if about.get("exception") else "",
        f"exit code {code}" if code else "",
    ]
    return ", ".join(part for part in parts if part)


def _captured(side: str, about: Mapping[str, Any]) -> str:
    """Return when the side was captured, and as what where that is odd."""
    created = str(about.get("created") or "")
    role = about.get("role")
    words = [created, f"as {role}" if role and role != side else ""]
    told = " ".join(word for word in words if word)
    return f"captured {told}" if told else ""


def _python(about: Mapping[str, Any]) -> str:
    name = str(about.get("implementation") or "Python")
    version = about.get("python")
    return f"{_INTERPRETER_NAMES.get(name, name)} {version}" if version else ""


def _system(about: Mapping[str, Any]) -> str:
    name = str(about.get("system") or "")
    parts = [_SYSTEM_NAMES.get(name, name), str(about.get("architecture") or "")]
    libc = str(about.get("libc") or "")
    text = " ".join(part for part in parts if part)
    return f"{text} ({libc})" if text and libc else text


def _runtime(about: Mapping[str, Any]) -> str:
    """Return what ran a model, with its version."""
    runtime = about.get("runtime")
    if not isinstance(runtime, dict):
        return ""
    if runtime.get("runtime"):
        return " ".join(str(runtime[name]) for name in ("runtime", "version") if runtime.get(name))
    named = [f"{name} {text}" for name, text in runtime.items() if isinstance(text, str) and text]
    return ", ".join(named)


def value_text(value: Any) -> str:
    """Return a value from a fact as short, safe text; `absent` for None."""
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and len(repr(value)) > _MOST_DIGITS:
        return f"{value:.6g}"
    if isinstance(value, str):
        text = value or "(empty)"
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        text = ", ".join(value) or "none"
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return shorten(escape(text), MOST_OF_A_VALUE)


def place_of(location: Any) -> str:
    """Return `file:line`, or empty when there is neither."""
    if not location.file:
        return ""
    line = f":{location.line}" if location.line is not None else ""
    return f"{escape(location.file)}{line}"


def inside_of(location: Any) -> str:
    """Return where it is within a model and a training run, or empty: layer, epoch, batch."""
    parts = [
        f"layer {location.layer}" if location.layer else "",
        f"tensor {location.tensor}" if location.tensor else "",
        f"epoch {location.epoch}" if location.epoch is not None else "",
        f"batch {location.batch}" if location.batch is not None else "",
    ]
    return escape(", ".join(part for part in parts if part))


def spots(finding: Finding) -> list[str]:
    """Return the places of a finding, its own first, each once."""
    own = finding.location
    told = [place_of(own) or ("" if finding.related else inside_of(own))]
    for place in finding.related:
        file, inside = place_of(place), inside_of(place)
        told.append(f"{file} ({inside})" if file and inside else file or inside)
    return [spot for spot in dict.fromkeys(told) if spot]


def values_of(finding: Finding) -> list[tuple[str, str]]:
    """Return the values that a finding sets against each other, each with its label."""
    found = [("train", finding.train), ("deploy", finding.deploy)]
    found = [] if finding.train is finding.deploy is None else found
    if finding.train is None:
        found = found[1:]
    found += [("seen", finding.seen), ("expected", finding.expected)]
    told = [(label, value_text(value)) for label, value in found]
    return [
        (label, text) for label, text in told if text != "absent" or label in ("train", "deploy")
    ]


def rules_sentence(report: Report) -> str:
    """Return how many rules ended how."""
    rules = report.rules
    parts = [
        (rules.get("pass", 0), "passed"),
        (rules.get("finding", 0), "found something"),
        (rules.get("not_applicable", 0), "did not apply"),
        (rules.get("unknown", 0), "could not be decided"),
        (rules.get("error", 0), "failed to run"),
    ]
    told = ", ".join(f"{number} {words}" for number, words in parts if number)
    total = sum(number for number, _ in parts)
    return f"{counted(total, 'rule')}: {told}" if total else "no rules"
