"""The report for people: what is wrong, why it matters, what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.findings import STAGES
from envcheck.reporting.escape import escape, shorten
from envcheck.reporting.folding import bundle, fold
from envcheck.reporting.layout import Page
from envcheck.reporting.next_step import add_next_step
from envcheck.reporting.parity_text import add_layers, add_summary
from envcheck.reporting.words import (
    counted,
    inside_of,
    rules_sentence,
    sides,
    spots,
    value_text,
    values_of,
    verdict_sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.findings import Finding, Outcome, Report
    from envcheck.reporting.folding import Group
    from envcheck.reporting.style import Style

__all__ = ["render"]

_TONES = {"does_not_conform": "error", "conforms": "good", "undetermined": "warning"}
_LABEL = 10
"""Columns of the label in front of each part of a finding."""
_MOST_OPEN = 5
_MOST_LISTED = 8
_MOST_OF_A_TITLE = 300


def render(report: Report, style: Style) -> str:
    """Return the report as text."""
    page = Page(style)
    _head(page, report)
    loud = [finding for finding in report.active if finding.severity != "info"]
    for groups in bundle(fold(loud)):
        _block(page, groups, style)
    _infos(page, [finding for finding in report.active if finding.severity == "info"], style)
    _waived(page, [finding for finding in report.findings if finding.waived], style)
    _open(page, report.undetermined, style)
    _foot(page, report, style)
    return page.text()


def _head(page: Page, report: Report) -> None:
    page.headline(f"{verdict_words(report)}:", _TONES[report.verdict], verdict_sentence(report))
    told = sides(report)
    width = max(8, *(len(label) + 1 for label, _, _ in told))
    for label, name, line in told:
        page.prose(f"{name}, {line}" if line else name, first=f"  {label:<{width}}")
    if report.parity is not None:
        add_summary(page, report.parity)
    for note in report.notes:
        page.prose(escape(note), first=f"  {'note':<{width}}")
    page.blank()


def _block(page: Page, groups: list[Group], style: Style) -> None:
    """Show one finding, or several that say the same of different subjects."""
    roots = [group.root for group in groups]
    first = roots[0]
    _titles(page, roots, style)
    if first.detail:
        page.prose(escape(first.detail), first=_label("why"))
    _fixes(page, roots, style)
    if len(roots) == 1:
        _places(page, first)
        _alternatives(page, first)
    if style.verbose:
        for root in roots:
            _evidence(page, root)
    _consequences(page, [item for group in groups for item in group.consequences], style)
    page.blank()


def _titles(page: Page, roots: list[Finding], style: Style) -> None:
    first = roots[0]
    words = f"{first.severity} {first.rule}"
    if len(roots) == 1:
        page.headline(words, first.severity, _title(first))
        _values(page, first)
        return
    page.headline(words, first.severity, f"{len(roots)} times:")
    shown = roots if style.verbose else roots[:_MOST_LISTED]
    for root in shown:
        place = "".join(f" ({spot})" for spot in spots(root)[:1])
        page.prose(_title(root) + place, first="  - ")
    if len(roots) > len(shown):
        page.line(f"  - and {len(roots) - len(shown)} more (-v shows them)")


def _title(finding: Finding) -> str:
    return escape(shorten(finding.title, _MOST_OF_A_TITLE))


def _fixes(page: Page, roots: list[Finding], style: Style) -> None:
    """Say once what to do, then give each command on a line of its own."""
    fix = roots[0].fix
    if fix.text:
        page.prose(escape(fix.text), first=_label("fix"))
    commands = list(dict.fromkeys(root.fix.command for root in roots if root.fix.command))
    shown = commands if style.verbose else commands[:_MOST_LISTED]
    for index, command in enumerate(shown):
        page.line(_label("" if fix.text or index else "fix") + escape(command))
    if len(commands) > len(shown):
        page.line(_label("") + f"# and {len(commands) - len(shown)} more (-v shows them)")


def _label(word: str) -> str:
    return f"  {word:<{_LABEL - 2}}"


def _values(page: Page, finding: Finding) -> None:
    told = values_of(finding)
    pair = [f"{label} {text}" for label, text in told if label in ("train", "deploy")]
    rest = [f"{label} {text}" for label, text in told if label not in ("train", "deploy")]
    if told:
        page.prose(", ".join([" \u2192 ".join(pair)] * bool(pair) + rest), first=_label("values"))


def _places(page: Page, finding: Finding) -> None:
    inside = inside_of(finding.location)
    if finding.location.file and inside:
        page.prose(inside, first=_label("at"))
    told = ", ".join(spots(finding))
    if told:
        page.prose(told, first=_label("where"))


def _alternatives(page: Page, finding: Finding) -> None:
    """Show what would account for the finding as well."""
    for index, other in enumerate(finding.alternatives):
        page.prose(
            escape(shorten(other, _MOST_OF_A_TITLE)), first=_label("" if index else "or else")
        )


def _evidence(page: Page, finding: Finding) -> None:
    for index, reason in enumerate(finding.because):
        page.prose(escape(reason), first=_label("" if index else "because"))
    for index, guard in enumerate(finding.guards):
        page.prose(escape(guard), first=_label("" if index else "guards"))
    page.line(_label("basis") + f"{finding.basis}, confidence {finding.confidence:.2f}")


def _consequences(page: Page, findings: list[Finding], style: Style) -> None:
    if findings:
        page.line("  also follows from this:")
    shown = findings if style.verbose else findings[:_MOST_LISTED]
    for finding in shown:
        page.prose(f"{finding.severity} {finding.rule} {_title(finding)}", first="  - ")
    if len(findings) > len(shown):
        page.line(f"  - and {len(findings) - len(shown)} more (-v shows them)")


def _infos(page: Page, findings: list[Finding], style: Style) -> None:
    if not findings:
        return
    if not style.verbose:
        old = sum(finding.pre_existing for finding in findings)
        words = f"; {old} the same on both sides" if old else ""
        page.prose(f"{counted(len(findings), 'info finding')} not shown (-v shows them){words}.")
        return
    for rule, members in _by_rule(findings).items():
        first = members[0]
        if len(members) == 1:
            page.headline(f"info {rule}", "info", _title(first))
            continue
        listed = "; ".join(
            f"{escape(item.subject)} {value_text(item.train)} \u2192 {value_text(item.deploy)}"
            for item in members
        )
        page.headline(f"info {rule}", "info", f"{len(members)} \u00d7 {first.fault}: {listed}")
    page.blank()


def _by_rule(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    return groups


def _waived(page: Page, findings: list[Finding], style: Style) -> None:
    if findings and style.verbose:
        for finding in findings:
            page.prose(
                f"{finding.rule} {_title(finding)}: {escape(finding.waived)}",
                first="waived ",
            )
    elif findings:
        page.line(f"{counted(len(findings), 'finding')} waived (-v shows them).")


def _open(page: Page, outcomes: tuple[Outcome, ...], style: Style) -> None:
    """Show what could not be decided by its reason, possible errors first."""
    if not outcomes:
        return
    page.blank()
    grave = sum(outcome.severity == "error" for outcome in outcomes)
    words = f", {counted(grave, 'possible error')} among them" if grave else ""
    page.headline("not decided:", "warning", f"{len(outcomes)}{words}")
    reasons: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda item: item.severity != "error"):
        reasons.setdefault(outcome.reason, []).append(outcome)
    shown = len(reasons) if style.verbose else _MOST_OPEN
    for reason, members in list(reasons.items())[:shown]:
        page.prose(_reason(reason, members, style), first="  - ")
    if len(reasons) > shown:
        page.line(f"  - and {len(reasons) - shown} more reasons (-v shows them)")


def _reason(reason: str, members: list[Outcome], style: Style) -> str:
    """Return a reason, what it leaves open, and the rules that wait for it."""
    subjects = [item.subject for item in members if item.subject not in reason]
    rules = [f"{item.rule} {item.title}" if style.verbose else item.rule for item in members]
    about = f": {_listed(subjects, style)}" if subjects else ""
    return f"{escape(shorten(reason, 200))}{about} ({_listed(rules, style)})"


def _listed(words: list[str], style: Style) -> str:
    """Return different words with commas, all of them or the first few."""
    names = list(dict.fromkeys(words))
    shown = names if style.verbose else names[:_MOST_OPEN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return escape(", ".join(shown)) + more


def _foot(page: Page, report: Report, style: Style) -> None:
    if report.parity is not None:
        add_layers(page, report.parity, style)
    page.blank()
    page.prose(f"Checked {rules_sentence(report)}.")
    if report.parity is not None and "reference" not in report.inputs:
        return
    left = [name for name in STAGES if report.stage(name) == "not_checked"]
    if left and report.rules_checked:
        page.prose(f"Not checked: {' and '.join(left)}.")
    add_next_step(page, report)
