"""The report as JUnit XML: one test case per finding.

An error is a failure, so a build fails exactly when the verdict says so; a warning passes with
its text, what is waived or could not be decided is skipped with the reason.
"""

from __future__ import annotations

from html import escape as escape_xml
from typing import TYPE_CHECKING

from envcheck.reporting.escape import escape
from envcheck.reporting.words import (
    inside_of,
    rules_sentence,
    spots,
    values_of,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.findings import Finding, Outcome, Report
    from envcheck.reporting.style import Style

__all__ = ["render"]

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_SUITE = "envcheck"


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as JUnit XML, with the verdict and the counts as properties."""
    cases = [_summary(report)]
    cases += [_case(finding) for finding in report.findings]
    cases += [_open_case(item) for item in report.undetermined]
    totals = {
        "tests": len(cases),
        "failures": report.count("error"),
        "errors": int(report.verdict == "undetermined"),
    }
    skipped = len(report.findings) - len(report.active) + len(report.undetermined)
    suite = {"name": _SUITE, **totals, "skipped": skipped, "time": 0}
    return "\n".join(
        [
            _HEAD,
            _start("testsuites", {"name": _SUITE, **totals, "time": 0}),
            f"  {_start('testsuite', suite)}",
            *_properties(report),
            *cases,
            "  </testsuite>",
            "</testsuites>\n",
        ]
    )


def _start(tag: str, attributes: Mapping[str, object], end: str = ">") -> str:
    told = "".join(f' {name}="{_text(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{told}{end}"


def _text(text: str) -> str:
    return escape_xml(escape(text))


def _lines(*lines: str) -> str:
    """Return lines of text as the content of an element."""
    return "\n".join(_text(line) for line in lines if line)


def _properties(report: Report) -> list[str]:
    counts = report.to_json()["counts"]
    values = {"verdict": report.verdict, **{f"counts.{name}": n for name, n in counts.items()}}
    rows = [
        f"      {_start('property', {'name': name, 'value': value}, '/>')}"
        for name, value in values.items()
    ]
    return ["    <properties>", *rows, "    </properties>"]


def _summary(report: Report) -> str:
    """Return the case that every report has: whether there was anything to judge."""
    told = f"<system-out>{_lines(f'Checked {rules_sentence(report)}.', *report.notes)}</system-out>"
    if report.verdict == "undetermined":
        attributes = {"type": "undetermined", "message": verdict_sentence(report)}
        told = _start("error", attributes, "/>") + told
    return _element("envcheck", "rules checked", told)


def _element(group: str, name: str, inside: str) -> str:
    start = _start("testcase", {"classname": group, "name": name, "time": 0})
    return f"    {start}{inside}</testcase>"


def _case(finding: Finding) -> str:
    group = f"envcheck.{finding.stage}.{finding.rule}"
    inside, places = inside_of(finding.location), spots(finding)
    body = _lines(
        f"{finding.severity}: {finding.title}",
        *(f"{label}: {text}" for label, text in values_of(finding)),
        finding.detail,
        finding.fix.text,
        finding.fix.command,
        *(f"or else: {other}" for other in finding.alternatives),
        f"at: {inside}" if inside and finding.location.file else "",
        f"where: {', '.join(places)}" if places else "",
        f"follows from {finding.explained_by}" if finding.explained_by else "",
        *finding.because,
    )
    message = {"message": finding.title}
    if finding.waived:
        inside = _start("skipped", {"message": f"waived: {finding.waived}"}, "/>")
    elif finding.severity == "error":
        inside = f"{_start('failure', {'type': finding.fault, **message})}{body}</failure>"
    else:
        inside = f"<system-out>{body}</system-out>"
    return _element(group, f"{finding.fault}: {finding.subject}", inside)


def _open_case(item: Outcome) -> str:
    inside = _start("skipped", {"message": f"not decided: {item.reason}"}, "/>")
    return _element(f"envcheck.{item.stage}.{item.rule}", f"{item.title}: {item.subject}", inside)
