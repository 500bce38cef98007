"""One finding in the HTML report: values, places, plots, reasons, advice, evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.escape import shorten
from envcheck.reporting.html_plots import series_plots
from envcheck.reporting.html_text import MOST_OF_A_TITLE, shown
from envcheck.reporting.words import inside_of, spots, value_text, values_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Finding

__all__ = ["anchor_of", "finding_details", "title_of"]


def title_of(finding: Finding, most: int = MOST_OF_A_TITLE) -> str:
    """Return the rule and the title of a finding as HTML."""
    return shown(f"{finding.rule} {shorten(finding.title, most)}")


def finding_details(finding: Finding, *, opened: bool) -> str:
    """Return a finding with all that is known about it, to unfold."""
    fix = f"<p>{shown(finding.fix.text)}</p>" if finding.fix.text else ""
    if finding.fix.command:
        fix += f"<pre>{shown(finding.fix.command)}</pre>"
    return (
        f"<details{' open' if opened else ''}><summary>"
        f'<span class="badge {finding.severity}">{finding.severity}</span> {title_of(finding)}'
        f'</summary><div id="finding-{finding.rank}">'
        + _values(finding)
        + series_plots(finding.series)
        + (f"<h3>Why</h3><p>{shown(finding.detail)}</p>" if finding.detail else "")
        + (f"<h3>Fix</h3>{fix}" if fix else "")
        + _alternatives(finding)
        + _reasons(finding)
        + f'<p><a href="#rule-{anchor_of(finding)}">What {shown(finding.rule)} means</a></p>'
        "</div></details>"
    )


def anchor_of(finding: Finding) -> str:
    """Return the part of an anchor that stands for a rule: letters and digits, or its bytes."""
    name = finding.rule
    if name.isascii() and name.isalnum():
        return name
    return "x" + name.encode("utf-8", "surrogatepass").hex()


def _values(finding: Finding) -> str:
    rows = [f"<tr><th scope=row>{label}</th><td><code>{shown(text)}</code></td></tr>"
            for label, text in values_of(finding)]  # fmt: skip
    own = finding.location
    where = ", ".join(f"<code>{shown(spot)}</code>" for spot in spots(finding))
    for head, cell in (
        ("subject", f"<code>{shown(finding.subject)}</code>"),
        ("at", shown(inside_of(own)) if own.file else ""),
        ("where", where),
        ("certainty", f"{round(100 * finding.confidence)} %, {shown(finding.basis)}"),
        ("follows from", shown(finding.explained_by)),
        ("waived", shown(finding.waived)),
    ):
        if cell:
            rows.append(f"<tr><th scope=row>{head}</th><td>{cell}</td></tr>")
    return f'<div class="wide"><table><tbody>{"".join(rows)}</tbody></table></div>'


def _alternatives(finding: Finding) -> str:
    """Return what would account for the finding as well, or repair it as well."""
    items = "".join(
        f"<li>{shown(shorten(other, MOST_OF_A_TITLE))}</li>" for other in finding.alternatives
    )
    return f"<h3>Or else</h3><ul>{items}</ul>" if items else ""


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
