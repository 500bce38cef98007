"""The parts of the HTML report. Every text from outside passes through `shown`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.documentation import rule_page
from envcheck.reporting.html_finding import anchor_of, finding_details, title_of
from envcheck.reporting.html_models import models
from envcheck.reporting.html_text import grid, shown
from envcheck.reporting.words import (
    counted,
    inside_of,
    place_of,
    rules_sentence,
    sides,
    values_of,
    verdict_sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envcheck.findings import Finding, Report
    from envcheck.reporting.documentation import RulePage

__all__ = ["body"]

_TONES = {"conforms": "good", "does_not_conform": "error", "undetermined": "warning"}
_MOST_OF_A_LINK = 140
_COUNTS = ("error", "warning", "info", "undetermined", "waived", "rules_checked")


def body(report: Report) -> str:
    """Return the report as HTML without its frame; the verdict comes first."""
    loud = [finding for finding in report.active if finding.severity != "info"]
    infos = [finding for finding in report.active if finding.severity == "info"]
    waived = [finding for finding in report.findings if finding.waived]
    parts = [
        _head(report),
        _overview(loud),
        models(report.parity),
        *(finding_details(finding, opened=number == 0) for number, finding in enumerate(loud)),
        _open(report),
        _listed("Information", infos),
        _listed("Waived", waived),
        _rules(report.findings),
        f'<p class="soft">Checked {shown(rules_sentence(report))}.</p>',
    ]
    return "\n".join(part for part in parts if part)


def _head(report: Report) -> str:
    counts = report.to_json()["counts"]
    numbers = "".join(
        f'<li data-count="{name}"><b>{counts[name]}</b> {name.replace("_", " ")}</li>'
        for name in _COUNTS
    )
    rows = "".join(
        f"<tr><th scope=row>{label}</th><td><code>{shown(name)}</code> {shown(about)}</td></tr>"
        for label, name, about in sides(report)
    )
    notes = "".join(f"<li>{shown(note)}</li>" for note in report.notes)
    return (
        f'<header><div class="verdict {_TONES[report.verdict]}" data-verdict="{report.verdict}">'
        f"<h1>{shown(verdict_words(report))}</h1><p>{shown(verdict_sentence(report))}</p>"
        f'<ul class="counts">{numbers}</ul></div>'
        f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'
        + (f'<ul class="soft">{notes}</ul>' if notes else "")
        + "</header>"
    )


def _overview(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    items = "".join(
        f'<li><span class="badge {finding.severity}">{finding.severity}</span> '
        f'<a href="#finding-{finding.rank}">{title_of(finding, _MOST_OF_A_LINK)}</a></li>'
        for finding in findings
    )
    return f"<nav><h2>{counted(len(findings), 'finding')} to act on</h2><ul>{items}</ul></nav>"


def _open(report: Report) -> str:
    rows = [
        (item.severity, item.rule, item.title, item.subject, item.reason)
        for item in report.undetermined
    ]
    if not rows:
        return ""
    heads = ("would be", "rule", "what", "subject", "why not")
    return f"<section><h2>Not decided</h2>{grid(heads, rows)}</section>"


def _listed(head: str, findings: Sequence[Finding]) -> str:
    """Return findings that need no action as one folded table."""
    if not findings:
        return ""
    rows = [
        (
            finding.rule,
            finding.title,
            ", ".join(f"{label} {text}" for label, text in values_of(finding)),
            finding.waived or place_of(finding.location) or inside_of(finding.location),
        )
        for finding in findings
    ]
    heads = ("rule", "what", "values", "reason" if head == "Waived" else "where")
    return f"<details><summary>{head} ({len(findings)})</summary>{grid(heads, rows)}</details>"


def _rules(findings: Iterable[Finding]) -> str:
    """Return what each rule that found something says about itself."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
    if not first:
        return ""
    pages = "".join(_rule(first[rule], rule_page(first[rule])) for rule in sorted(first))
    about = '<p class="soft">Names in braces stand for what a finding fills in.</p>'
    return f"<section><h2>The rules behind the findings</h2>{about}{pages}</section>"


def _rule(finding: Finding, page: RulePage) -> str:
    told = []
    for head, text in page.sections:
        if isinstance(text, tuple):
            inside = f"<ul>{''.join(f'<li>{shown(item)}</li>' for item in text)}</ul>"
        elif head == "Command":
            inside = f"<pre>{shown(text)}</pre>"
        else:
            inside = f"<p>{shown(text)}</p>"
        told.append(f"<h3>{head}</h3>{inside}")
    return (
        f"<details><summary>{shown(page.id)} {shown(page.name)}</summary>"
        f'<div id="rule-{anchor_of(finding)}">{"".join(told)}</div></details>'
    )
