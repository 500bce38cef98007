"""What the rules say about themselves, for reports that explain their findings on the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.findings import Finding
    from envcheck.rulebook.loading import Rule

__all__ = ["RulePage", "rule_page"]


class RulePage:
    """The documentation of one rule: that of the rule, or else what a finding says."""

    def __init__(self, finding: Finding, rule: Rule | None) -> None:
        self.id = finding.rule
        self.name = rule.name if rule else finding.fault
        self.fault = finding.fault
        self.severity = rule.severity if rule else finding.severity
        self.title = rule.title if rule else finding.title
        self.detail = rule.detail if rule else finding.detail
        self.fix = rule.fix if rule else finding.fix.text
        self.command = rule.command if rule else finding.fix.command
        self.guards = rule.guards if rule else finding.guards
        self.why = rule.why if rule else ""
        self.references = rule.references if rule else ()

    @property
    def sections(self) -> list[tuple[str, str | tuple[str, ...]]]:
        """The sections in their order; names in braces stand for what a finding fills in."""
        sections: list[tuple[str, str | tuple[str, ...]]] = [
            ("What it finds", self.title),
            ("What happens if you ship it", self.detail),
            ("How to fix it", self.fix),
            ("Command", self.command),
            ("When it stays silent", self.guards),
            ("How we know", self.why),
            ("References", self.references),
        ]
        return [(head, body) for head, body in sections if body]


def rule_page(finding: Finding) -> RulePage:
    """Return the documentation of the rule behind a finding.

    Rules of a user are not at hand here; of those the finding itself tells what it can.
    """
    from envcheck.comparing.rulesets import builtin_rules

    book = builtin_rules()
    try:
        rule = book.rule(finding.rule)
    except KeyError:
        return RulePage(finding, None)
    return RulePage(finding, rule if rule.fault == finding.fault else None)
