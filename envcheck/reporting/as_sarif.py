"""The report as SARIF 2.1.0, for code scanning: each finding on the line of its fact.

Findings are results; what could not be decided is a notification of the run, since it is no
defect of the place; waived findings are suppressed results.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from envcheck import __version__
from envcheck.reporting.documentation import rule_page
from envcheck.reporting.escape import escape, shorten
from envcheck.reporting.markdown_text import fenced, inline
from envcheck.reporting.words import inside_of, value_text, values_of, verdict_sentence

if TYPE_CHECKING:
    from envcheck.findings import Finding, Location, Outcome, Report
    from envcheck.reporting.documentation import RulePage
    from envcheck.reporting.style import Style

__all__ = ["render"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_MOST_OF_A_TEXT = 2_000
_MOST_OF_A_NAME = 200
_ADDRESS = re.compile(r"https://[\w.~/?#=&%+:-]+", re.ASCII)
_NOWHERE = "fingerprint"
"""The name of the place where no file is known: both sides may be captured live."""


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as SARIF, in ASCII."""
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.rule, finding)
    numbers = {rule: number for number, rule in enumerate(sorted(first))}
    data = report.to_json()
    run = {
        "tool": {"driver": {
            "name": "envcheck",
            "version": __version__,
            "semanticVersion": __version__,
            "rules": [_rule(first[rule]) for rule in sorted(first)],
        }},
        "invocations": [_invocation(report)],
        "automationDetails": {"id": "envcheck/"},
        "columnKind": "utf16CodeUnits",
        "results": [_result(report, finding, numbers) for finding in report.findings],
        "properties": {name: data[name] for name in ("verdict", "counts", "stages", "rules")},
    }  # fmt: skip
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    page = rule_page(finding)
    return {
        "id": escape(page.id),
        "name": _camel(page.name),
        "shortDescription": {"text": _sentence(_words(page.name))},
        "fullDescription": {"text": _sentence(page.detail or page.title)},
        "defaultConfiguration": {"level": _LEVELS.get(page.severity, "warning")},
        "help": {"text": _help_text(page), "markdown": _help_markdown(page)},
        "properties": {
            "tags": list(
                dict.fromkeys((finding.category, finding.component, finding.stage))
            ),
            "precision": "very-high" if finding.confidence >= 0.9 else "high"
            if finding.confidence >= 0.7 else "medium",
            "problem.severity": {"info": "recommendation"}.get(finding.severity, finding.severity),
        },
    }  # fmt: skip


def _camel(name: str) -> str:
    parts = escape(name).replace("_", "-").split("-")
    return "".join(part[:1].upper() + part[1:] for part in parts) or "Unnamed"


def _words(name: str) -> str:
    """Return a kebab-case name as words; code scanning shows it as the title of an alert."""
    told = escape(name).replace("-", " ")
    return told[:1].upper() + told[1:]


def _sentence(text: str) -> str:
    """Return a text that ends as a sentence does, which code scanning asks for."""
    told = shorten(escape(text), _MOST_OF_A_TEXT) or "No description"
    return told if told[-1] in ".!?" else f"{told}."


def _help_text(page: RulePage) -> str:
    parts = []
    for head, body in page.sections:
        told = "\n".join(escape(item) for item in body) if isinstance(body, tuple) else escape(body)
        parts.append(f"{head}:\n{told}")
    return "\n\n".join(parts)


def _help_markdown(page: RulePage) -> str:
    parts = [f"# {inline(page.id)} {inline(page.name)}"]
    for head, body in page.sections:
        if isinstance(body, tuple):
            told = "\n".join(f"- {_reference(item)}" for item in body)
        else:
            told = fenced(body, "bash") if head == "Command" else inline(body)
        parts.append(f"## {head}\n\n{told}")
    return "\n\n".join(parts) + "\n"


def _reference(text: str) -> str:
    """Return an item of a list; what rules refer to becomes a link."""
    return f"<{text}>" if _ADDRESS.fullmatch(text) else inline(text)


def _result(report: Report, finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    others = [f"Or else: {other}" for other in finding.alternatives]
    lines = [finding.title, inside_of(finding.location), _values(finding), finding.fix.text,
             finding.fix.command, *others]  # fmt: skip
    told = [shorten(escape(line), _MOST_OF_A_TEXT) for line in lines if line]
    result: dict[str, Any] = {
        "ruleId": escape(finding.rule),
        "ruleIndex": numbers[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(told)},
        "locations": [_location(report, finding, finding.location)],
        "partialFingerprints": {"envcheckFinding/v1": _identity(finding)},
        "rank": round(100 * finding.confidence, 1),
        "properties": {
            "subject": escape(finding.subject),
            "fault": finding.fault,
            "basis": finding.basis,
            "explainedBy": escape(finding.explained_by),
            **_moment(finding.location),
        },
    }
    related = [_location(report, finding, place) for place in finding.related]
    if related:
        result["relatedLocations"] = [
            {"id": number, **place} for number, place in enumerate(related, 1)
        ]
    if finding.waived:
        told_why = shorten(escape(finding.waived), _MOST_OF_A_TEXT)
        result["suppressions"] = [{"kind": "external", "justification": told_why}]
    return result


def _message(lines: list[str]) -> str:
    """Return the message; brackets and braces would be links and placeholders in SARIF."""
    first, *rest = lines or ["No title"]
    first = first if first[-1:] in (".", "!", "?") else f"{first}."
    text = "\n".join([first, *rest]).replace("\\", "\\\\")
    text = text.replace("[", "\\[").replace("]", "\\]")
    return text.replace("{", "{{").replace("}", "}}")


def _moment(place: Location) -> dict[str, int]:
    """Return when in a training it was."""
    told = {"epoch": place.epoch, "batch": place.batch}
    return {name: number for name, number in told.items() if number is not None}


def _values(finding: Finding) -> str:
    told = "; ".join(f"{label}: {text}" for label, text in values_of(finding))
    return f"{told[:1].upper()}{told[1:]}." if told else ""


def _identity(finding: Finding) -> str:
    """Return what stays the same while a finding is the same: its rule, subject and values."""
    values = finding.values or (value_text(finding.train), value_text(finding.deploy))
    parts = json.dumps([finding.rule, finding.subject, *values])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()


def _location(report: Report, finding: Finding, place: Location) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(1, place.line or 1)}
    if place.column:
        region["startColumn"] = max(1, place.column)
    uri = _uri(place.file or _file_of(report, finding.stage))
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region},
        "logicalLocations": _logical(finding, place),
    }


def _file_of(report: Report, stage: str) -> str:
    """Return the file that a stage looks at: fingerprint, converted model or script."""
    sides = {"conversion": ("candidate", "deploy"), "training": ("run",)}.get(stage, ("train",))
    places = [str(report.inputs.get(side, {}).get("place") or "") for side in sides]
    return next((place for place in places if place), _NOWHERE)


def _logical(finding: Finding, place: Location) -> list[dict[str, Any]]:
    """Return the layer by its path and the tensor by its name; the subject where there is none."""
    found = [("module", place.layer), ("member", place.tensor)]
    named = [(kind, name) for kind, name in found if name]
    if not named:
        name = shorten(escape(finding.subject), _MOST_OF_A_NAME) or "unnamed"
        return [{"fullyQualifiedName": name}]
    return [
        {
            "name": shorten(escape(name.rpartition("/")[2]), _MOST_OF_A_NAME) or "unnamed",
            "fullyQualifiedName": shorten(escape(name), _MOST_OF_A_NAME),
            "kind": kind,
        }
        for kind, name in named
    ]


def _uri(path: str) -> str:
    """Return a path as a URI reference: relative as it stands, absolute as `file:`."""
    told = quote(path.replace("\\", "/").encode("utf-8", "backslashreplace"), safe="/-._~")
    if told.startswith("/"):
        return f"file://{told}" if not told.startswith("//") else f"file:///{told.lstrip('/')}"
    drive, colon, rest = told.partition("%3A/")
    return f"file:///{drive}:/{rest}" if colon and len(drive) == 1 else told


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": report.verdict != "undetermined",
        "toolExecutionNotifications": [
            {
                "level": _LEVELS[item.severity] if item.severity != "error" else "warning",
                "message": {"text": _message([_not_decided(item)])},
                "descriptor": {"id": escape(item.rule)},
            }
            for item in report.undetermined
        ]
        + [{"level": "note", "message": {"text": _message([escape(n)])}} for n in report.notes],
    }
    if report.verdict == "undetermined":
        invocation["exitCodeDescription"] = escape(verdict_sentence(report))
    return invocation


def _not_decided(item: Outcome) -> str:
    told = f"{item.rule} could not be decided for {item.subject}: {item.title}: {item.reason}"
    return shorten(escape(told), _MOST_OF_A_TEXT)
