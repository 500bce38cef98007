"""The parts of the HTML report. Every text from outside passes through `shown`."""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING

from envcheck.reporting.documentation import rule_page
from envcheck.reporting.escape import escape, shorten
from envcheck.reporting.words import (
    counted,
    place_of,
    rules_sentence,
    side_line,
    side_name,
    value_text,
    verdict_sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envcheck.findings import Finding, Report
    from envcheck.reporting.documentation import RulePage

__all__ = ["body", "shown"]

_TONES = {"conforms": "good", "does_not_conform": "error", "undetermined": "warning"}
_COUNTS = ("error", "warning", "info", "undetermined", "waived", "rules_checked")
_MOST_OF_A_TITLE = 400


def shown(text: str) -> str:
    """Return a text as HTML: on one line, everything invisible spelt out."""
    return escape_html(escape(text))


def body(report: Report) -> str:
    """Return the report as HTML without its frame; the verdict comes first."""
    loud = [finding for finding in report.active if finding.severity != "info"]
    infos = [finding for finding in report.active if finding.severity == "info"]
    waived = [finding for finding in report.findings if finding.waived]
    parts = [
        _head(report),
        _overview(loud),
        *(_finding(finding, opened=number == 0) for number, finding in enumerate(loud)),
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
        f"<tr><th scope=row>{side}</th><td><code>{shown(side_name(report, side))}</code> "
        f"{shown(side_line(side, report.inputs.get(side, {})))}</td></tr>"
        for side in ("train", "deploy")
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
        f'<a href="#finding-{finding.rank}">{_title(finding)}</a></li>'
        for finding in findings
    )
    return f"<nav><h2>{counted(len(findings), 'finding')} to act on</h2><ul>{items}</ul></nav>"


def _title(finding: Finding) -> str:
    return shown(f"{finding.rule} {shorten(finding.title, _MOST_OF_A_TITLE)}")


def _finding(finding: Finding, *, opened: bool) -> str:
    fix = f"<p>{shown(finding.fix.text)}</p>" if finding.fix.text else ""
    if finding.fix.command:
        fix += f"<pre>{shown(finding.fix.command)}</pre>"
    return (
        f"<details{' open' if opened else ''}><summary>"
        f'<span class="badge {finding.severity}">{finding.severity}</span> {_title(finding)}'
        f'</summary><div id="finding-{finding.rank}">'
        + _values(finding)
        + (f"<h3>Why</h3><p>{shown(finding.detail)}</p>" if finding.detail else "")
        + (f"<h3>Fix</h3>{fix}" if fix else "")
        + _reasons(finding)
        + f'<p><a href="#rule-{_anchor(finding)}">What {shown(finding.rule)} means</a></p>'
        "</div></details>"
    )


def _anchor(finding: Finding) -> str:
    """Return the part of an anchor that stands for a rule: letters and digits, or its bytes."""
    name = finding.rule
    if name.isascii() and name.isalnum():
        return name
    return "x" + name.encode("utf-8", "surrogatepass").hex()


def _values(finding: Finding) -> str:
    told = [
        (side, value_text(value))
        for side, value in (("train", finding.train), ("deploy", finding.deploy))
        if value is not None
    ]
    rows = [f"<tr><th scope=row>{side}</th><td><code>{shown(text)}</code></td></tr>"
            for side, text in told]  # fmt: skip
    places = [place_of(place) for place in (finding.location, *finding.related)]
    where = ", ".join(f"<code>{shown(place)}</code>" for place in places if place)
    for head, cell in (
        ("subject", f"<code>{shown(finding.subject)}</code>"),
        ("where", where),
        ("certainty", f"{round(100 * finding.confidence)} %, {shown(finding.basis)}"),
        ("follows from", shown(finding.explained_by)),
        ("waived", shown(finding.waived)),
    ):
        if cell:
            rows.append(f"<tr><th scope=row>{head}</th><td>{cell}</td></tr>")
    return f'<div class="wide"><table><tbody>{"".join(rows)}</tbody></table></div>'


def _reasons(finding: Finding) -> str:
    """Return the evidence: the facts, and the chain of facts and rules as a tree."""
    rows = "".join(
        f"<tr><td><code>{shown(item.fact)}</code></td><td>{shown(item.origin)}</td>"
        f"<td><code>{shown(value_text(item.value))}</code></td></tr>"
        for item in finding.evidence
    )
    facts = (
        '<div class="wide"><table><thead><tr><th>fact</th><th>from</th><th>value</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        if rows
        else ""
    )
    chain = _tree(finding.because)
    return f"<details><summary>Evidence</summary>{facts}{chain}</details>" if rows or chain else ""


def _tree(lines: Iterable[str]) -> str:
    """Return indented lines as nested lists."""
    out: list[str] = []
    depth = 0
    for line in lines:
        level = min((len(line) - len(line.lstrip(" "))) // 2 + 1, depth + 1)
        while depth > level:
            out.append("</li></ul>")
            depth -= 1
        if level > depth:
            out.append('<ul class="tree"><li>' if not depth else "<ul><li>")
        else:
            out.append("</li><li>")
        depth = level
        out.append(shown(line.strip(" ")))
    return "".join(out) + "</li></ul>" * depth


def _open(report: Report) -> str:
    rows = [
        (item.severity, item.rule, item.title, item.subject, item.reason)
        for item in report.undetermined
    ]
    if not rows:
        return ""
    heads = ("would be", "rule", "what", "subject", "why not")
    return f"<section><h2>Not decided</h2>{_grid(heads, rows)}</section>"


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th scope=col>{head}</th>" for head in heads)
    lines = "".join(
        f"<tr>{''.join(f'<td>{shown(shorten(cell, _MOST_OF_A_TITLE))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    head = f"<thead><tr>{top}</tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{lines}</tbody></table></div>'


def _listed(head: str, findings: Sequence[Finding]) -> str:
    """Return findings that need no action as one folded table."""
    if not findings:
        return ""
    rows = [
        (
            finding.rule,
            finding.title,
            "" if finding.train is None else value_text(finding.train),
            "" if finding.deploy is None else value_text(finding.deploy),
            finding.waived or place_of(finding.location),
        )
        for finding in findings
    ]
    heads = ("rule", "what", "train", "deploy", "reason" if head == "Waived" else "where")
    return f"<details><summary>{head} ({len(findings)})</summary>{_grid(heads, rows)}</details>"


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
        f'<div id="rule-{_anchor(finding)}">{"".join(told)}</div></details>'
    )
