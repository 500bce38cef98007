"""The baseline: findings that were there when it was written, so that only new ones count.

An entry is known by rule, subject and the two normalised values, not by a line number, so it
survives captures and edits, and ends when a value changes. One entry per line, sorted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from envcheck.errors import ConfigError, InputError
from envcheck.findings import Finding, Report
from envcheck.fingerprint.files import read_bounded
from envcheck.records import record, replace

__all__ = [
    "BASELINE_SCHEMA",
    "Baseline",
    "BaselineEntry",
    "accept_all",
    "baseline_text",
    "note_of",
    "parse_baseline",
    "read_baseline",
]

BASELINE_SCHEMA = "envcheck.baseline/1"
SIZE_LIMIT = 8 << 20
_MEMBERS = ("rule", "subject", "train", "deploy")
_MAKE_ONE = "write one with: envcheck compare TRAIN DEPLOY --write-baseline FILE"


@record(kw_only=True)
class BaselineEntry:
    """One accepted finding."""

    rule: str
    subject: str
    train: str = ""
    deploy: str = ""


@record(kw_only=True)
class Baseline:
    """The accepted findings of one file; `lines` has the line of each entry."""

    entries: tuple[BaselineEntry, ...] = ()
    place: str = ""
    lines: tuple[int, ...] = ()


def baseline_text(findings: Iterable[Finding]) -> str:
    """Return the baseline file that accepts these findings.

    What a waiver silences stays with its waiver, and reports on the policy itself are left out.
    """
    entries = sorted(
        {
            BaselineEntry(
                rule=finding.rule,
                subject=finding.subject,
                train=finding.values[0],
                deploy=finding.values[1],
            )
            for finding in findings
            if finding.values is not None and (finding.in_baseline or not finding.waived)
        },
        key=lambda entry: tuple(vars(entry).values()),
    )
    rows = ",\n".join(json.dumps(vars(entry), ensure_ascii=True) for entry in entries)
    body = f"\n{rows}\n" if rows else ""
    return f'{{"schema": "{BASELINE_SCHEMA}", "entries": [{body}]}}\n'


def accept_all(report: Report, place: str) -> Report:
    """Return a report whose findings are accepted by the baseline that was written from it."""
    note = note_of(place)
    return replace(
        report,
        findings=tuple(
            replace(finding, waived=note, in_baseline=True)
            if finding.values is not None and not finding.waived
            else finding
            for finding in report.findings
        ),
    )


def note_of(place: str) -> str:
    """Return what a finding says that a baseline accepts."""
    return f"in the baseline ({place})" if place else "in the baseline"


def read_baseline(path: str) -> Baseline:
    """Return the baseline of a file; raises ConfigError that lists every mistake."""
    try:
        data = read_bounded(path, SIZE_LIMIT)
    except InputError as problem:
        raise ConfigError(problem.problem, place=path, hint=_MAKE_ONE) from problem
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ConfigError("is not UTF-8", place=path, hint=_MAKE_ONE) from problem
    return parse_baseline(text, path)


def parse_baseline(text: str, place: str) -> Baseline:
    """Return the baseline that a text holds."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        line = f":{problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
        raise ConfigError("is not JSON", place=f"{place}{line}", hint=_MAKE_ONE) from problem
    if not isinstance(data, dict) or data.get("schema") != BASELINE_SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise ConfigError(
            f"has schema {found!r}, not {BASELINE_SCHEMA!r}", place=place, hint=_MAKE_ONE
        )
    rows = data.get("entries")
    if not isinstance(rows, list):
        raise ConfigError("has no list of entries", place=place, hint=_MAKE_ONE)
    mistakes = [m for i, row in enumerate(rows, 1) for m in _mistakes(i, row)]
    if mistakes:
        raise ConfigError("mistakes in the baseline\n" + "\n".join(mistakes), place=place)
    entries = tuple(BaselineEntry(**row) for row in rows)
    return Baseline(entries=entries, place=place, lines=_lines(text, len(entries)))


def _mistakes(number: int, row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f"entry {number} is not an object"]
    unknown = [f"entry {number}: unknown key {name!r}" for name in row.keys() - set(_MEMBERS)]
    wrong = [
        f"entry {number}: {name} must be a text"
        for name in _MEMBERS
        if not isinstance(row.get(name, "" if name in ("train", "deploy") else None), str)
    ]
    return sorted(unknown) + wrong


def _lines(text: str, count: int) -> tuple[int, ...]:
    """Return the line of each entry as we write them: one per line; else line 1 for all."""
    found = [number for number, line in enumerate(text.splitlines(), 1) if '"rule"' in line]
    return tuple(found) if len(found) == count else (1,) * count
