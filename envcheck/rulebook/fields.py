"""The metadata block of a rule: which fields there are and what each may hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.reasoning.terms import TYPE, is_string, number
from envcheck.rulebook.templates import stray_brace
from envcheck.rulebook.words import RULE, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.rulebook.notation import Node, Statement
    from envcheck.rulebook.problems import Report

__all__ = ["FIELDS", "TEMPLATES", "Field", "Metadata", "read_metadata"]

TEMPLATES = ("title", "detail", "fix", "command")
"""The fields that are filled from the bindings of a firing."""

_ID = re.compile(r"[A-Z][A-Z0-9]+[0-9]+")
_BUILT_IN_ID = re.compile(r"[A-Z]{3}[0-9]{3}")
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ARGUMENT = re.compile(r"[a-z_][a-z0-9_]*")
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One metadata field: how to read a node of it, or why not, and how often it stands."""

    read: Callable[[Node], Any]
    expected: str
    required: bool = False
    many: bool = False


def _text(node: Node) -> Any:
    """Return the text of a string with runs of white space made one space, else None."""
    if not isinstance(node, str) or not is_string(node):
        return None
    return " ".join(node[1:].split()) or None


def _verbatim(node: Node) -> Any:
    return node[1:].strip() or None if isinstance(node, str) and is_string(node) else None


def _pattern(expression: re.Pattern[str]) -> Callable[[Node], Any]:
    def read(node: Node) -> Any:
        text = _text(node)
        return text if text and expression.fullmatch(text) else None

    return read


def _choice(*names: str) -> Callable[[Node], Any]:
    return lambda node: (
        node.removeprefix("ec:").removeprefix('"')
        if node in {prefix + name for prefix in ("ec:", '"') for name in names}
        else None
    )


def _share(node: Node) -> Any:
    share = number(node) if isinstance(node, str) else None
    return share if share is not None and 0 <= share <= 1 else None


def _rule(node: Node) -> Any:
    return node[5:] if isinstance(node, str) and node.startswith("rule:") else None


_SEVERITIES = ("error", "warning", "info")
_BASES = ("declared", "measured", "inferred")
_STATUSES = ("stable", "preview")
_STRENGTHS = ("proof", "heuristic", "symptom")

FIELDS: Mapping[str, Field] = {
    "name": Field(read=_pattern(_KEBAB), expected="a kebab-case string", required=True),
    "fault": Field(read=_pattern(_KEBAB), expected="a kebab-case string", required=True),
    "since": Field(read=_pattern(_VERSION), expected='a version such as "0.1"', required=True),
    "status": Field(read=_choice(*_STATUSES), expected='"stable" or "preview"', required=True),
    "severity": Field(
        read=_choice(*_SEVERITIES), expected="ec:error, ec:warning or ec:info", required=True
    ),
    "basis": Field(
        read=_choice(*_BASES), expected="ec:declared, ec:measured or ec:inferred", required=True
    ),
    "title": Field(read=_text, expected="a text", required=True),
    "detail": Field(read=_text, expected="a text", required=True),
    "fix": Field(read=_text, expected="a text", required=True),
    "command": Field(read=_verbatim, expected="a text"),
    "guards": Field(read=_text, expected="texts", many=True),
    "reads": Field(read=_text, expected="fact keys, `*` allowed", many=True),
    "references": Field(read=_text, expected="texts", many=True),
    "confidence": Field(read=_share, expected="a number from 0 to 1"),
    "why": Field(read=_text, expected="a text"),
    "example": Field(read=_verbatim, expected="a text"),
    "sharp": Field(read=_text, expected="a text"),
    "overrides": Field(read=_rule, expected="a rule"),
    "profile": Field(read=_pattern(_KEBAB), expected="a kebab-case string"),
    "argument": Field(read=_pattern(_ARGUMENT), expected="the name of an argument"),
    "strength": Field(read=_choice(*_STRENGTHS), expected='"proof", "heuristic" or "symptom"'),
}
"""All fields, in the order in which they are documented."""


@dataclass(slots=True)
class Metadata:
    """The fields of one rule with the line of each."""

    id: str
    line: int
    values: dict[str, Any]
    lines: dict[str, int]


def read_metadata(
    statements: list[Statement], report: Report, *, built_in: bool
) -> dict[str, Metadata]:
    """Read all metadata blocks of a file by rule id; what is wrong goes to `report`."""
    found: dict[str, Metadata] = {}
    typed: set[str] = set()
    for statement in statements:
        rule = statement.subject.removeprefix("rule:")
        metadata = found.setdefault(rule, Metadata(rule, statement.line, {}, {}))
        if statement.predicate != TYPE:
            _read_field(metadata, statement, report)
        elif rule in typed:
            report(statement.line, f"rule {rule} is defined twice")
        elif statement.object == RULE:
            typed.add(rule)
        else:
            report(statement.line, f"{rule} is no {RULE}", f"write: rule:{rule} a {RULE} ;")
    for rule, metadata in found.items():
        if rule not in typed:
            report(metadata.line, f"{rule} has no type", f"write: rule:{rule} a {RULE} ;")
        _check_id(metadata, report, built_in=built_in)
        _check_complete(metadata, report)
    return found


def _read_field(metadata: Metadata, statement: Statement, report: Report) -> None:
    name = str(statement.predicate).removeprefix("ec:")
    field = FIELDS.get(name)
    if field is None:
        hint = suggestion(f"ec:{name}", [f"ec:{known}" for known in FIELDS])
        report(statement.line, f"unknown field {statement.predicate} of {metadata.id}", hint)
        return
    nodes = statement.object if field.many and isinstance(statement.object, tuple) else None
    for node in nodes or (statement.object,):
        value = field.read(node)
        if value is None:
            report(statement.line, f"ec:{name} of {metadata.id} must be {field.expected}")
            value = [] if field.many else ""
        elif field.many:
            value = [*metadata.values.get(name, ()), value]
        elif name in metadata.values:
            report(statement.line, f"ec:{name} of {metadata.id} is given twice")
        metadata.values[name] = value
    metadata.lines[name] = statement.line


def _check_id(metadata: Metadata, report: Report, *, built_in: bool) -> None:
    expression = _BUILT_IN_ID if built_in else _ID
    if not expression.fullmatch(metadata.id):
        example = "three letters and three digits" if built_in else "capitals, then digits"
        report(metadata.line, f"bad rule id {metadata.id!r}", f"an id is {example}: ENV031")


def _check_complete(metadata: Metadata, report: Report) -> None:
    for name, field in FIELDS.items():
        if field.required and name not in metadata.values:
            hint = f"ec:{name} holds {field.expected}"
            report(metadata.line, f"rule {metadata.id} has no ec:{name}", hint)
    for name in TEMPLATES:
        if stray_brace(metadata.values.get(name, "")):
            hint = "write {name} for a binding, {{ or }} for a brace"
            report(metadata.lines[name], f"stray brace in ec:{name} of {metadata.id}", hint)
