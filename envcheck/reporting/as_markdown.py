"""The report as GitHub Markdown, sized for the summary of a job.

A summary beyond 1 MiB is dropped whole, so this one is cut before that, between rows, and says
what it left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.escape import shorten
from envcheck.reporting.markdown_text import cell, code, fenced, inline
from envcheck.reporting.parity_rows import HEADS, outcome_lines, rows_of
from envcheck.reporting.words import (
    inside_of,
    place_of,
    rules_sentence,
    sides,
    spots,
    values_of,
    verdict_sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Finding, Report
    from envcheck.reporting.style import Style

__all__ = ["LIMIT", "render"]

LIMIT = 900_000
"""The most bytes of a report."""
_RESERVE = 4_000
"""Bytes kept for the closing lines of open sections and for saying what was cut."""
_ICONS = {"conforms": "✅", "does_not_conform": "❌", "undetermined": "❔"}
_DOTS = {"error": "🔴 error", "warning": "🟡 warning", "info": "🔵 info"}
_COUNTS = (*_DOTS, "undetermined", "waived", "rules_checked")
_MOST_OF_A_TITLE = 300
_MOST_OF_A_TEXT = 4_000
_COLUMNS = {
    "environment": ("train", "deploy", "where"),
    "models": ("seen", "expected", "where"),
}
"""What stands beside severity, rule and title; models are compared and trained."""


class _Paper:
    """Text under construction, within a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._left = limit - _RESERVE
        self._parts: list[str] = []

    def add(self, text: str) -> None:
        """Add text that every report has."""
        self._left -= len(text.encode("utf-8")) + 1
        self._parts.append(text)

    def rows(self, rows: Iterable[str]) -> int:
        """Add rows as long as they fit; return how many did not."""
        left_out = 0
        for row in rows:
            if left_out or len(row.encode("utf-8")) + 1 > self._left:
                left_out += 1
            else:
                self.add(row)
        return left_out

    def text(self) -> str:
        """Return everything."""
        return "\n".join(self._parts).rstrip("\n") + "\n"


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as Markdown of at most `LIMIT` bytes."""
    paper = _Paper(LIMIT)
    _head(paper, report)
    loud = [finding for finding in report.active if finding.severity != "info"]
    _table(paper, "### Errors and warnings", loud)
    _calls(paper, report)
    _explanations(paper, loud)
    _open(paper, report)
    infos = [finding for finding in report.active if finding.severity == "info"]
    _folded(paper, f"Information ({len(infos)})", infos)
    waived = [finding for finding in report.findings if finding.waived]
    _folded(paper, f"Waived ({len(waived)})", waived)
    paper.add(f"\nChecked {inline(rules_sentence(report))}.")
    return paper.text()


def _head(paper: _Paper, report: Report) -> None:
    words = verdict_words(report).lower()
    paper.add(f"## {_ICONS[report.verdict]} envcheck: {words}\n")
    paper.add(f"{inline(shorten(verdict_sentence(report), _MOST_OF_A_TITLE))}\n")
    counts = report.to_json()["counts"]
    heads = [name.replace("_", " ") for name in _COUNTS]
    paper.add(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    paper.add(f"| {' | '.join(str(counts[name]) for name in _COUNTS)} |\n")
    for label, name, about in sides(report):
        told = inline(shorten(about, _MOST_OF_A_TEXT))
        paper.add(f"- **{label}** {code(name)}{', ' if told else ''}{told}")
    paper.rows(f"- note: {inline(shorten(note, _MOST_OF_A_TEXT))}" for note in report.notes)
    paper.add("")


def _table(paper: _Paper, head: str, findings: list[Finding]) -> None:
    if findings:
        paper.add(f"{head}\n")
        _rows(paper, findings)
        paper.add("")


def _rows(paper: _Paper, findings: list[Finding]) -> None:
    """Add a table of findings about the environment, and one of those about models."""
    environment = [item for item in findings if item.stage == "environment"]
    models = [item for item in findings if item.stage != "environment"]
    for columns, members in (("environment", environment), ("models", models)):
        if members:
            names = ("severity", "rule", "what", *_COLUMNS[columns])
            paper.add(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
            _say_cut(paper, paper.rows(_row(item, _COLUMNS[columns]) for item in members))
            paper.add("")


def _row(finding: Finding, columns: tuple[str, ...]) -> str:
    values = dict(values_of(finding))
    values["where"] = shorten(_where(finding), _MOST_OF_A_TITLE)
    cells = [
        _DOTS[finding.severity],
        cell(finding.rule),
        cell(shorten(finding.title, _MOST_OF_A_TITLE)),
        *(code(values.get(name, "")) for name in columns),
    ]
    row = f"| {' | '.join(cells)} |"
    if finding.waived:
        row += f"\n| waived |  | {cell(shorten(finding.waived, _MOST_OF_A_TITLE))} |  |  |  |"
    return row


def _where(finding: Finding) -> str:
    told = (place_of(finding.location), inside_of(finding.location))
    return ", ".join(part for part in told if part)


def _calls(paper: _Paper, report: Report) -> None:
    """Add the comparison of two models: its outcome, and the calls as a folded table."""
    if report.parity is None:
        return
    paper.add("### The models\n")
    paper.rows(
        f"- **{label}** {inline(shorten(told, _MOST_OF_A_TEXT))}"
        for label, told in outcome_lines(report.parity)
    )
    rows = rows_of(report.parity)
    if rows:
        paper.add(f"\n<details><summary>All {len(rows)} calls</summary>\n")
        paper.add(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
        lines = (f"| {' | '.join(cell(shorten(text, 120)) for text in row)} |" for row in rows)
        _say_cut(paper, paper.rows(lines))
        paper.add("\n</details>")
    paper.add("")


def _say_cut(paper: _Paper, left_out: int) -> None:
    if left_out:
        paper.add(f"\n**{left_out} more left out here for size;** `--format json` has them all.")


def _explanations(paper: _Paper, findings: list[Finding]) -> None:
    """Add what a reader needs to act, folded, one for each finding."""
    left_out = paper.rows(_explanation(finding) for finding in findings)
    _say_cut(paper, left_out)


def _explanation(finding: Finding) -> str:
    title = f"{finding.rule} {shorten(finding.title, _MOST_OF_A_TITLE)}"
    parts = [f"<details><summary>{inline(title)}</summary>\n"]
    if finding.detail:
        parts.append(f"{inline(shorten(finding.detail, _MOST_OF_A_TEXT))}\n")
    if finding.explained_by:
        parts.append(f"Follows from {code(finding.explained_by)}.\n")
    values = [f"{label} {code(text)}" for label, text in values_of(finding)]
    told = [f"**Values:** {', '.join(values)}" if values else "", *_places(finding)]
    parts += [f"{line}\n" for line in told if line]
    if finding.fix.text:
        parts.append(f"**Fix:** {inline(shorten(finding.fix.text, _MOST_OF_A_TEXT))}\n")
    if finding.fix.command:
        parts.append(fenced(finding.fix.command, "bash") + "\n")
    if finding.alternatives:
        parts.append("**Or else**, instead:\n")
        parts += [f"- {inline(shorten(item, _MOST_OF_A_TEXT))}" for item in finding.alternatives]
        parts.append("")
    if finding.because:
        chain = shorten("\n".join(finding.because), _MOST_OF_A_TEXT)
        parts.append(f"Because:\n\n{fenced(chain, 'text')}\n")
    return "\n".join([*parts, "</details>\n"])


def _places(finding: Finding) -> list[str]:
    """Return the source lines, and the place in the model and in the training."""
    places = [code(shorten(spot, _MOST_OF_A_TITLE)) for spot in spots(finding)]
    inside = inside_of(finding.location) if finding.location.file else ""
    return [
        f"**At:** {inline(shorten(inside, _MOST_OF_A_TITLE))}" if inside else "",
        f"**Where:** {', '.join(places)}" if places else "",
    ]


def _open(paper: _Paper, report: Report) -> None:
    if not report.undetermined:
        return
    paper.add("### Not decided\n\n| would be | rule | what | why not |\n|---|---|---|---|")
    rows = (
        f"| {item.severity} | {cell(item.rule)} | {cell(shorten(item.title, _MOST_OF_A_TITLE))}"
        f" | {cell(shorten(item.reason, _MOST_OF_A_TITLE))} |"
        for item in report.undetermined
    )
    _say_cut(paper, paper.rows(rows))
    paper.add("")


def _folded(paper: _Paper, head: str, findings: list[Finding]) -> None:
    if findings:
        paper.add(f"<details><summary>{head}</summary>\n")
        _rows(paper, findings)
        paper.add("</details>\n")
