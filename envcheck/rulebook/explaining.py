"""What a rule says about itself, as text for the terminal, as Markdown, and as JSON data."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.rulebook.index import IndexEntry
    from envcheck.rulebook.loading import Rule

__all__ = ["as_data", "as_markdown", "as_text", "describe"]

_WIDTH = 80


def describe(rule: Rule) -> list[tuple[str, str | tuple[str, ...]]]:
    """Return the sections of a rule's documentation in their order; empty ones left out.

    Names in braces stand for what a finding fills in.
    """
    sections: list[tuple[str, str | tuple[str, ...]]] = [
        ("What it finds", rule.title),
        ("What happens if you ship it", rule.detail),
        ("How to fix it", rule.fix),
        ("Command", rule.command),
        ("When it stays silent", rule.guards),
        ("How we know", rule.why),
        ("Example", rule.example),
        ("References", rule.references),
    ]
    return [(head, body) for head, body in sections if body]


def as_data(rule: Rule, entry: IndexEntry) -> dict[str, Any]:
    """Return the documentation as JSON data."""
    return {
        "rule": rule.id,
        "name": rule.name,
        "fault": rule.fault,
        "category": entry.category,
        "component": entry.component,
        "severity": rule.severity,
        "basis": rule.basis,
        "confidence": rule.confidence,
        "status": rule.status,
        "since": rule.since,
        "title": rule.title,
        "detail": rule.detail,
        "fix": {"text": rule.fix, "command": rule.command},
        "guards": list(rule.guards),
        "why": rule.why,
        "example": rule.example,
        "references": list(rule.references),
        "terms": {"fl4deep": entry.fl4deep, "deepfd": entry.deepfd},
        "place": rule.place,
    }


def _facts(rule: Rule, entry: IndexEntry) -> str:
    profile = f", only in profile {rule.profile}" if rule.profile else ""
    return (
        f"{rule.severity}, {rule.basis}; {entry.category} / {entry.component}; "
        f"fault {rule.fault}; {rule.status} since {rule.since}{profile}"
    )


def as_text(rule: Rule, entry: IndexEntry) -> str:
    """Return the documentation as wrapped text."""
    lines = [f"{rule.id} {rule.name}", _facts(rule, entry)]
    for head, body in describe(rule):
        lines += ["", f"{head}:"]
        if head in ("Command", "Example"):
            lines += [f"  {line}" for line in str(body).splitlines()]
        elif isinstance(body, tuple):
            for item in body:
                lines += textwrap.wrap(
                    item, _WIDTH, initial_indent="  - ", subsequent_indent="    ",
                    break_long_words=False, break_on_hyphens=False,
                )  # fmt: skip
        else:
            lines += textwrap.wrap(body, _WIDTH, initial_indent="  ", subsequent_indent="  ",
                                   break_on_hyphens=False)  # fmt: skip
    lines += ["", f"Written in rules/{rule.place}"]
    return "\n".join(lines) + "\n"


def as_markdown(rule: Rule, entry: IndexEntry) -> str:
    """Return the documentation as one Markdown page."""
    lines = [f"# {rule.id} {rule.name}", "", _facts(rule, entry) + "."]
    for head, body in describe(rule):
        lines += ["", f"## {head}", ""]
        if head in ("Command", "Example"):
            lines += ["```bash", str(body), "```"]
        elif isinstance(body, tuple):
            lines += [f"- <{item}>" if "://" in item else f"- {item}" for item in body]
        else:
            lines.append(body)
    return "\n".join(lines) + "\n"
