"""The form of one triple: what may stand as subject, predicate and object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envcheck.reasoning.terms import TYPE, is_iri, is_variable
from envcheck.rulebook.notation import BLANK, Formula
from envcheck.rulebook.words import suggestion

if TYPE_CHECKING:
    from envcheck.reasoning.store import Triple
    from envcheck.rulebook.notation import Node, Statement
    from envcheck.rulebook.problems import Report
    from envcheck.rulebook.words import Words

__all__ = ["check_predicate", "check_term", "triple_of"]

_NAME = re.compile(r"\?[A-Za-z][A-Za-z0-9_]*")


def triple_of(statement: Statement, where: str, words: Words, report: Report) -> Triple | None:
    """Return the triple of a statement, or None after reporting what is wrong with it."""
    subject, predicate, object_ = statement.subject, statement.predicate, statement.object
    line = statement.line
    sound = check_term(subject, where, line, report)
    sound &= check_term(object_, where, line, report)
    if sound and not is_iri(subject) and not is_variable(subject):
        hint = "a triple is about an IRI or a variable"
        report(line, f"literal as subject in {where}", hint)
        sound = False
    sound &= check_predicate(predicate, where, line, words, report)
    if not sound:
        return None
    if predicate == TYPE and is_iri(object_) and object_ not in (words.classes or (object_,)):
        hint = suggestion(object_, words.classes or ()) or f"declare it: {object_} a ec:Class ."
        report(line, f"undeclared class {object_}", hint)
    return subject, predicate, object_


def check_term(node: Node, where: str, line: int, report: Report) -> bool:
    """Tell whether a node is a plain term; reports it if not."""
    if isinstance(node, tuple):
        report(line, f"list in {where}", "write one fact for each member")
    elif isinstance(node, Formula):
        report(line, f"formula in {where}", "formulas stand beside => and log:notIncludes only")
    elif node == BLANK:
        report(line, f"blank node in {where}", "use a ?variable in a body, an IRI elsewhere")
    elif is_variable(node) and not _NAME.fullmatch(node):
        report(line, f"bad variable name {node}", "a letter, then letters, digits and _")
    else:
        return True
    return False


def check_predicate(predicate: Node, where: str, line: int, words: Words, report: Report) -> bool:
    """Tell whether a node may stand as predicate; reports it if not."""
    if not isinstance(predicate, str) or not is_iri(predicate):
        kind = "variable" if isinstance(predicate, str) and is_variable(predicate) else "literal"
        hint = "name the predicate: the vocabulary is closed"
        report(line, f"{kind} as predicate in {where}", hint)
        return False
    if predicate in words.predicates:
        return True
    hint = suggestion(predicate, words.predicates) or f"declare it: {predicate} a ec:Predicate ."
    report(line, f"undeclared predicate {predicate}", hint)
    return False
