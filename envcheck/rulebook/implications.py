"""From an implication as written to one the engine runs, with every mistake on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envcheck.reasoning.built_ins import IN, MEMBER, NOT_INCLUDES
from envcheck.reasoning.implication import Body, Implication
from envcheck.reasoning.terms import is_variable
from envcheck.rulebook.comparisons import mistake_in_comparison
from envcheck.rulebook.notation import Formula
from envcheck.rulebook.triples import check_term, triple_of
from envcheck.rulebook.words import ENABLED, OUTCOMES, STATE, Words, built_in_mistake, is_built_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envcheck.reasoning.implication import Comparison, Membership, Pattern
    from envcheck.rulebook.notation import Statement
    from envcheck.rulebook.problems import Report

__all__ = ["read_implication"]


def read_implication(
    statement: Statement, place: str, words: Words, report: Report
) -> Implication | None:
    """Return the implication, or None after reporting what is wrong with it."""
    body, head = statement.subject, statement.object
    if not isinstance(body, Formula) or not isinstance(head, Formula):
        report(statement.line, "'=>' stands between two formulas", "{ body } => { head }")
        return None
    clean = _Watch(report)
    line = body.statements[0].line if body.statements else statement.line
    rule = _read_guard(body.statements, line, clean)
    conjunction = _Conjunction(words, clean, negated=False)
    conjunction.read([s for s in body.statements if s.predicate != STATE])
    heads = _read_heads(head.statements, rule, words, clean)
    if not head.statements:
        clean(line, "the implication has an empty head", "{ ?x ec:violates rule:ENV031 }")
    bound = conjunction.bound
    for variable in _variables(heads):
        if variable not in bound:
            _report_unbound(variable, "the head", conjunction, line, clean)
    conjunction.check_order()
    if clean.dirty or rule is None:
        return None
    patterns = [(f"rule:{rule}", STATE, ENABLED), *conjunction.patterns]
    whole = Body(patterns, conjunction.comparisons, conjunction.memberships)
    return Implication(rule, whole, heads, conjunction.negations, f"{place}:{line}")


class _Watch:
    """Passes reports on and remembers that there was one."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.dirty = False

    def __call__(self, line: int, message: str, hint: str = "") -> None:
        self.dirty = True
        self._report(line, message, hint)


def _read_guard(statements: list[Statement], line: int, report: Report) -> str | None:
    guards = [s for s in statements if s.predicate == STATE]
    hint = f"begin the body with: rule:ENV031 {STATE} {ENABLED} ."
    if not guards:
        report(line, "the implication has no guard", hint)
        return None
    guard = guards[0]
    if len(guards) > 1:
        report(guards[1].line, "the implication has two guards", "one implication, one rule")
    if guard is not statements[0]:
        report(guard.line, "the guard is not the first triple of the body", hint)
    subject = guard.subject
    if not isinstance(subject, str) or not subject.startswith("rule:"):
        report(guard.line, "the guard names no rule", hint)
        return None
    if guard.object != ENABLED:
        report(guard.line, f"the guard must ask for {ENABLED}", hint)
        return None
    return subject.removeprefix("rule:")


def _read_heads(
    statements: list[Statement], rule: str | None, words: Words, report: Report
) -> list[Pattern]:
    heads: list[Pattern] = []
    for statement in statements:
        predicate = statement.predicate
        if isinstance(predicate, str) and is_built_in(predicate):
            report(statement.line, f"built-in {predicate!r} in a head", "heads assert facts")
            continue
        pattern = triple_of(statement, "a head", words, report)
        if pattern is None:
            continue
        if predicate in words.reserved:
            hint = "derive a predicate of your own: declare it with `a ec:Predicate`"
            report(statement.line, f"a rule may not assert {predicate}", hint)
        elif predicate in OUTCOMES and rule and statement.object != f"rule:{rule}":
            hint = f"write: {predicate} rule:{rule}"
            report(statement.line, f"a rule guarded by {rule} reports another rule", hint)
        heads.append(pattern)
    return heads


@dataclass
class _Conjunction:
    """A body being read: what it matches, tests and negates, and which variables it binds."""

    words: Words
    report: Report
    negated: bool
    outer: frozenset[str] = frozenset()
    patterns: list[Pattern] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    memberships: list[Membership] = field(default_factory=list)
    negations: list[Body] = field(default_factory=list)
    negation_lines: list[int] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    only_negated: set[str] = field(default_factory=set)
    uses: list[tuple[str, str, int, bool]] = field(default_factory=list)

    def read(self, statements: Iterable[Statement]) -> None:
        """Read the triples in their order."""
        for statement in statements:
            predicate = statement.predicate
            if not isinstance(predicate, str) or not is_built_in(predicate):
                self._read_pattern(statement)
            elif mistake := built_in_mistake(predicate):
                self.report(statement.line, *mistake)
            elif predicate == NOT_INCLUDES:
                self._read_negation(statement)
            elif predicate in (IN, MEMBER):
                self._read_membership(statement)
            else:
                self._read_comparison(statement)

    def _bind(self, *terms: str) -> None:
        self.bound.update(term for term in terms if is_variable(term))

    def _use(self, term: str, by: str, line: int, *, needed: bool = True) -> None:
        if is_variable(term) and term not in self.bound and term not in self.outer:
            self.uses.append((term, by, line, needed))

    def _read_pattern(self, statement: Statement) -> None:
        pattern = triple_of(statement, "a body", self.words, self.report)
        if pattern is not None:
            self.patterns.append(pattern)
            self._bind(pattern[0], pattern[2])

    def _read_comparison(self, statement: Statement) -> None:
        left, built_in, right = statement.subject, statement.predicate, statement.object
        line = statement.line
        sound = check_term(left, "a comparison", line, self.report)
        if not check_term(right, "a comparison", line, self.report) or not sound:
            return
        for term in (left, right):
            self._use(term, built_in, line)
        if mistake := mistake_in_comparison(left, built_in, right):
            self.report(line, *mistake)
        self.comparisons.append((left, built_in, right))

    def _read_membership(self, statement: Statement) -> None:
        term, items = statement.subject, statement.object
        if statement.predicate == MEMBER:
            term, items = items, term
        line = statement.line
        if not isinstance(items, tuple) or any(
            not isinstance(item, str) or item[0] in "?_" for item in items
        ):
            hint = '?x list:in ("a" "b"): the list holds constants, written in place'
            self.report(line, f"{statement.predicate} needs a list of constants", hint)
            return
        if not check_term(term, "a comparison", line, self.report):
            return
        if not items or not is_variable(term):
            self.report(line, "this can never change: it compares constants")
        self._bind(term)
        self.memberships.append((term, tuple(dict.fromkeys(items))))

    def _read_negation(self, statement: Statement) -> None:
        scope, body, line = statement.subject, statement.object, statement.line
        hint = "?SCOPE log:notIncludes { ?a ec:b ?c }"
        if not isinstance(scope, str) or not is_variable(scope) or not isinstance(body, Formula):
            self.report(line, f"{NOT_INCLUDES} needs a scope variable and a formula", hint)
            return
        if self.negated:
            self.report(line, "a negated pattern inside a negated pattern", "derive a fact first")
            return
        inner = _Conjunction(self.words, self.report, True, frozenset(self.bound))
        inner.read(body.statements)
        if not inner.patterns:
            self.report(line, "a negated formula needs a pattern, not only built-ins", hint)
        inner.check_order()
        for name in sorted(inner.bound):
            if name not in self.bound:
                self.only_negated.add(name)
                self._use(name, "a negated pattern", line, needed=False)
        if scope in self.bound or scope in inner.bound:
            self.report(line, f"{scope} is the scope and a binding", "name the scope ?SCOPE")
        self.negation_lines.append(line)
        self.negations.append(Body(inner.patterns, inner.comparisons, inner.memberships))

    def check_order(self) -> None:
        """Report what is used without being bound, or before it is."""
        for name, by, line, needed in self.uses:
            if name in self.bound:
                hint = "move it below the pattern that binds the variable"
                self.report(line, f"{name} is used in {by} before it is bound", hint)
            elif needed:
                _report_unbound(name, by, self, line, self.report)
        for body, line in zip(self.negations, self.negation_lines, strict=True):
            if not body.comparisons and set(body.patterns) <= set(self.patterns):
                self.report(line, "this can never fire: it negates what it requires")


def _variables(patterns: Iterable[Pattern]) -> list[str]:
    found = (t for s, _, o in patterns for t in (s, o) if is_variable(t))
    return list(dict.fromkeys(found))


def _report_unbound(
    name: str, by: str, conjunction: _Conjunction, line: int, report: Report
) -> None:
    if name in conjunction.only_negated:
        hint = "a negated pattern binds nothing outside itself"
        report(line, f"{name} in {by} is bound only inside a negated pattern", hint)
    else:
        hint = "bind it in a pattern of the body"
        report(line, f"{name} in {by} is not bound", hint)
