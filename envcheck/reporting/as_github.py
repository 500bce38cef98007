"""The report as workflow commands of GitHub Actions: annotations on the lines of the facts.

GitHub shows ten annotations of a kind for each step and drops the others silently. So there are
at most nine for findings, the worst first, and a last one with the verdict that says how many
more there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.escape import escape, shorten
from envcheck.reporting.words import counted, inside_of, values_of, verdict_words

if TYPE_CHECKING:
    from envcheck.findings import Finding, Report
    from envcheck.reporting.style import Style

__all__ = ["MOST", "command", "render"]

MOST = 9
"""Annotations for findings."""
_LEVELS = {"conforms": "notice", "does_not_conform": "error", "undetermined": "warning"}
_MOST_OF_A_TITLE = 200
_MOST_OF_A_MESSAGE = 2_000


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return one workflow command a line."""
    loud = [finding for finding in report.active if finding.severity != "info"]
    ordered = sorted(loud, key=lambda finding: finding.severity != "error")
    lines = [_annotation(finding) for finding in ordered[:MOST]]
    return "\n".join([*lines, _last(report, len(loud) - len(lines))]) + "\n"


def command(level: str, message: str, **properties: str | int | None) -> str:
    """Return one workflow command; line breaks of the message stay, all else is escaped."""
    told = ",".join(
        f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None
    )
    lines = (escape(line) for line in message.split("\n"))
    return f"::{level}{' ' if told else ''}{told}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(escape(text)).replace(":", "%3A").replace(",", "%2C")


def _annotation(finding: Finding) -> str:
    # A line break inside a text from outside is spelt out, so that only our own remain.
    values = ", ".join(f"{label} {text}" for label, text in values_of(finding))
    inside = inside_of(finding.location)
    lines = [finding.detail, inside, values if finding.stage != "environment" else "",
             finding.fix.text, finding.fix.command,
             *(f"or else: {other}" for other in finding.alternatives)]  # fmt: skip
    message = "\n".join(escape(line) for line in lines if line) or escape(finding.title)
    place = finding.location
    return command(
        finding.severity,
        shorten(message, _MOST_OF_A_MESSAGE),
        file=place.file,
        line=place.line if place.file else None,
        col=place.column if place.file and place.line else None,
        title=shorten(f"{finding.rule} {finding.title}", _MOST_OF_A_TITLE),
    )


def _last(report: Report, more: int) -> str:
    counts = report.to_json()["counts"]
    told = ", ".join(counted(counts[name], name) for name in ("error", "warning"))
    rest = [
        f"{counts['info']} for information" if counts["info"] else "",
        f"{counts['undetermined']} not decided" if counts["undetermined"] else "",
        f"{counts['waived']} waived" if counts["waived"] else "",
        f"{counts['rules_checked']} rules checked",
    ]
    message = f"{told}; {', '.join(part for part in rest if part)}"
    if more:
        message += f"\nand {more} more, which the summary and the report file show"
    words = verdict_words(report).lower()
    return command(_LEVELS[report.verdict], message, title=f"envcheck: {words}")
