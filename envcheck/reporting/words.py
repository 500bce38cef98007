"""Sentences that several formats share: the verdict, the two sides, values, counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envcheck.reporting.escape import escape, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.findings import Report

__all__ = [
    "counted",
    "place_of",
    "rules_sentence",
    "side_line",
    "value_text",
    "verdict_sentence",
    "verdict_words",
]

MOST_OF_A_VALUE = 160
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
    sides = " against ".join(side_name(report, side) for side in ("deploy", "train"))
    undecided = sum(outcome.severity == "error" for outcome in report.undetermined)
    if report.rules_checked == 0:
        told = "nothing could be checked"
    elif report.verdict == "undetermined":
        told = f"{counted(undecided, 'possible error')} not decided, which strict does not accept"
    else:
        told = ", ".join(counted(report.count(level), level) for level in ("error", "warning"))
    return f"{told} ({sides})"


def side_name(report: Report, side: str) -> str:
    """Return the short name of a side: the file it was read from."""
    origin = str(report.inputs.get(side, {}).get("place") or "")
    if origin == "live":
        return "this machine"
    return escape(shorten(origin, 80)) or f"the {side} side"


def side_line(side: str, about: Mapping[str, Any]) -> str:
    """Return one line about a side: interpreter, system, size, capture."""
    kind = about.get("kind")
    size = about.get("packages")
    parts = [
        f"intended by a {kind} file" if kind not in (None, "", "installed") else "",
        _python(about),
        _system(about),
        counted(int(size), "distribution") if size is not None else "",
        _captured(side, about),
    ]
    return escape(", ".join(part for part in parts if part))


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


def value_text(value: Any) -> str:
    """Return a value from a fact as short, safe text; `absent` for None."""
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "yes" if value else "no"
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
