"""Each mistake in a rule file is found, at its line, with a hint that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from envcheck.errors import RuleError
from envcheck.rulebook.compiling import compile_folder, compile_sources
from envcheck.rulebook.sources import FILE_LIMIT
from envcheck.rulebook.words import Words
from tests.rulebook.rulefile import GOOD, WORDS, compile_text

GUARD = "rule:ENV031 ec:state ec:enabled ."
HEAD = "{ ?package ec:violates rule:ENV031 }"
LEVEL = "?level math:notGreaterThan ?limit ."
TABLE = "ec:runtime ec:breaksAt 2 ."
NEGATED = "?SCOPE log:notIncludes { ?package ec:waived ?reason } ."
ROLE = "?role ec:breaksAt ?limit ."

REQUIRED = ("name", "fault", "since", "status", "severity", "basis", "title", "detail", "fix")


def _line(text: str, marker: str) -> int:
    return text[: text.index(marker)].count("\n") + 1


def _mistake(text: str) -> str:
    with pytest.raises(RuleError) as caught:
        compile_text(text)
    return str(caught.value)


def _changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_the_good_file_is_good() -> None:
    """The file that the others are made from has no mistake."""
    compile_text(GOOD)


CHANGES = {
    # what is wrong: (old text, new text, where it shows, message)
    "syntax": (TABLE, "ec:runtime ec:breaksAt .", "ec:breaksAt .", "syntax error"),
    "unterminated-string": ('"0.1"', '"0.1', "ec:since", "newline found in string"),
    "unclosed-body": ("} => {", "=> {", "=> {", "syntax error"),
    "unknown-prefix": (TABLE, "ex:runtime ec:breaksAt 2 .", "ex:", "unknown prefix 'ex:'"),
    "no-guard": (GUARD, "", "?package ec:trained", "has no guard"),
    "late-guard": (GUARD, f"?x ec:role ?y . {GUARD}", GUARD, "guard is not the first"),
    "two-guards": (GUARD, f"{GUARD} rule:ENV032 ec:state ec:enabled .", GUARD, "two guards"),
    "guard-of-nothing": (GUARD, "ec:x ec:state ec:enabled .", "ec:x", "the guard names no rule"),
    "guard-state": (GUARD, "rule:ENV031 ec:state ec:on .", "ec:on", "must ask for ec:enabled"),
    "unknown-guard": (GUARD, "rule:ENV099 ec:state ec:enabled .", "rule:ENV099", "names ENV099"),
    "other-rule": (HEAD, "{ ?package ec:violates rule:ENV032 }", "rule:ENV032", "another rule"),
    "bad-severity": ("ec:severity ec:error", "ec:severity ec:bad", "ec:bad", "must be ec:error,"),
    "bad-status": ('"stable"', '"beta"', '"beta"', "ec:status of ENV031 must be"),
    "bad-basis": ("ec:basis ec:declared", "ec:basis ec:told", "ec:told", "ec:basis of ENV031"),
    "bad-name": ('"older-reader"', '"Older Reader"', '"Older', "a kebab-case string"),
    "bad-version": ('"0.1"', '"soon"', '"soon"', 'a version such as "0.1"'),
    "bad-confidence": ("0.98", "98", "98", "a number from 0 to 1"),
    "empty-title": ('"It may load and compute something else."', '" "', '" "', "must be a text"),
    "field-twice": ('ec:fix "In', 'ec:fix "x" ; ec:fix "In', "ec:fix", "is given twice"),
    "unknown-field": ("ec:guards", "ec:guard", "ec:guard", "unknown field ec:guard"),
    "bad-id": ("rule:ENV031 a", "rule:env31 a", "rule:env31", "bad rule id 'env31'"),
    "no-type": ("rule:ENV031 a ec:Rule ;", "rule:ENV031", "ec:name", "has no type"),
    "other-type": ("a ec:Rule", "a ec:Thing", "a ec:Thing", "is no ec:Rule"),
    "stray-brace": ("Install {trained}.", "Install {trained.", "Install", "stray brace in ec:fix"),
    "format": ("Install {trained}.", "{trained.__class__}", "{trained.", "stray brace in ec:fix"),
    "unbound-place": ("Install {trained}.", "Use {best}.", "{best}", "{best} in ec:fix"),
    "unbound-head": (HEAD, "{ ?pakage ec:violates rule:ENV031 }", GUARD, "?pakage in the head"),
    "unbound-test": (LEVEL, "?lvl math:lessThan ?limit .", "?lvl", "?lvl in math:lessThan is not"),
    "only-negated": (
        LEVEL,
        '?reason string:contains "x" .',
        "?reason str",
        "only inside a negated",
    ),
    "test-too-early": (f"{ROLE}\n  {LEVEL}", f"{LEVEL}\n  {ROLE}", LEVEL, "before it is bound"),
    "negation-too-early": (
        f"{LEVEL}\n  {NEGATED}",
        "?SCOPE log:notIncludes { ?x ec:waived ?y } . ?x ec:value 1 .",
        "?SCOPE",
        "?x is used in a negated pattern before it is bound",
    ),
    "misspelt-built-in": (LEVEL, "?level math:greatherThan 1 .", "math:great", "unknown built-in"),
    "arithmetic": (LEVEL, "?level math:floor ?limit .", "math:floor", "is outside the profile"),
    "file-access": (LEVEL, "<x.n3> log:semantics ?limit .", "log:sem", "reach outside the facts"),
    "foreign-built-in": (
        LEVEL,
        "?x <http://eulersharp.sourceforge.net/2003/03swap/log-rules#findall> ?limit .",
        "findall",
        "reach outside the facts",
    ),
    "built-in-head": (HEAD, "{ ?level math:lessThan 1 }", "{ ?level", "in a head"),
    "built-in-fact": (TABLE, "1 math:lessThan 2 .", "1 math:", "outside a body"),
    "blank-head": (HEAD, "{ [] ec:violates rule:ENV031 }", "{ []", "blank node in a head"),
    "blank-body": (LEVEL, "?package ec:value [] .", "ec:value []", "blank node in a body"),
    "blank-fact": (TABLE, "_:x ec:breaksAt 2 .", "_:x", "blank node in a fact"),
    "list-head": (HEAD, "{ ?package ec:value (1 2) }", "{ ?package ec:value", "list in a head"),
    "list-body": (LEVEL, "?package ec:value (1 2) .", "ec:value (", "list in a body"),
    "literal-subject": (LEVEL, '"x" ec:value ?package .', '"x" ec:value', "literal as subject"),
    "literal-predicate": (LEVEL, '?package "x" ?level .', '"x" ?level', "literal as predicate"),
    "variable-predicate": (LEVEL, "?package ?p ?level .", "?p ?level", "variable as predicate"),
    "undeclared": (LEVEL, "?package ec:rolle ?x .", "ec:rolle", "undeclared predicate ec:rolle"),
    "undeclared-head": (HEAD, "{ ?package ec:bad ?x }", "{ ?package ec:bad", "undeclared"),
    "reserved-head": (HEAD, '{ ?package ec:trained "1" }', "{ ?package ec:tr", "may not assert"),
    "state-head": (HEAD, "{ rule:ENV031 ec:state ec:off }", "ec:off", "may not assert ec:state"),
    "reserved-fact": (TABLE, 'ec:x ec:trained "1" .', "ec:x", "may not assert ec:trained"),
    "outcome-fact": (TABLE, "ec:x ec:violates rule:ENV031 .", "ec:x", "may not assert ec:violates"),
    "variable-fact": (TABLE, "?x ec:breaksAt 2 .", "?x ec", "variable in a fact"),
    "constants": (LEVEL, '"a" string:lessThan "b" .', '"a" str', "compares constants"),
    "itself": (LEVEL, "?level math:lessThan ?level .", "?level math", "with itself"),
    "string-number": (LEVEL, '?level math:lessThan "5" .', '"5"', "math:lessThan needs numbers"),
    "number-string": (LEVEL, "?trained string:contains 5 .", "contains 5", "needs strings"),
    "no-pattern": (LEVEL, "?trained string:matches ?limit .", "string:m", "constant pattern"),
    "catastrophic": (LEVEL, '?trained string:matches "(a+)+$" .', '"(a+', "nested repetition"),
    "many-stars": (LEVEL, '?trained string:matches "a*b*c*" .', '"a*', "unbounded repetitions"),
    "look-ahead": (LEVEL, '?trained string:matches "(?=a)" .', '"(?=', "portable regular"),
    "open-list": (LEVEL, "?trained list:in (?level) .", "list:in", "needs a list of constants"),
    "no-list": (LEVEL, "?trained list:in ?limit .", "list:in", "needs a list of constants"),
    "empty-list": (LEVEL, "?trained list:in () .", "list:in", "compares constants"),
    "relative": (TABLE, "<x> ec:breaksAt 2 .", "<x>", "relative IRI <x>"),
    "negated-scope": (
        NEGATED,
        "ec:x log:notIncludes { ?package ec:waived ?r } .",
        "ec:x",
        "a scope",
    ),
    "nested-negation": (
        NEGATED,
        "?SCOPE log:notIncludes { ?package ec:waived ?r . ?S log:notIncludes { ?r ec:role 1 } } .",
        "?SCOPE",
        "inside a negated pattern",
    ),
    "negated-built-in": (
        NEGATED,
        "?SCOPE log:notIncludes { ?level math:lessThan 1 } .",
        "?SCOPE",
        "needs a pattern, not only built-ins",
    ),
    "bound-scope": (
        NEGATED,
        "?package log:notIncludes { ?package ec:waived ?r } .",
        "?package log",
        "is the scope and a binding",
    ),
    "contradiction": (
        NEGATED,
        "?SCOPE log:notIncludes { ?package ec:role ?role } .",
        "?SCOPE",
        "it negates what it requires",
    ),
    "bad-variable": (LEVEL, "?package ec:value ?a-b .", "?a-b", "bad variable name ?a-b"),
    "backward": (f"}} => {HEAD}", f"}} <= {HEAD}", "<=", "backward rule"),
    "for-all": (TABLE, "@forAll ec:x . ec:x ec:breaksAt 2 .", "@forAll", "not part of the profile"),
    "language": (TABLE, 'ec:x ec:breaksAt "zwei"@de .', '"zwei"', "language tag @de"),
    "datatype": (
        TABLE,
        'ec:x ec:breaksAt "2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .',
        '"2026',
        "literal of type",
    ),
    "not-a-number": (
        TABLE,
        'ec:x ec:breaksAt "x"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        'ec:x ec:breaksAt "x"',
        "'x' is no integer",
    ),
    "huge-number": (TABLE, "ec:x ec:breaksAt 1e999 .", "1e999", "is too large"),
    "odd-iri": (TABLE, "<urn:envcheck:ec:%61> ec:breaksAt 2 .", "%61", "not in canonical form"),
    "no-implication": (TABLE, "rule:ENV032 a ec:Rule .", "rule:ENV032", "has no implication"),
    "twice": (TABLE, "rule:ENV031 a ec:Rule .", "rule:ENV031 a ec:Rule .\n", "is defined twice"),
    "empty-head": (HEAD, "{ }", GUARD, "has an empty head"),
    "no-formula": (f"=> {HEAD}", "=> ec:x", "=> ec:x", "between two formulas"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_mistake(change: tuple[str, str, str, str]) -> None:
    """The message names the mistake and the line where it stands."""
    old, new, marker, message = change
    text = _changed(old, new)

    found = _mistake(text)

    line = text[: text.rindex(marker)].count("\n") + 1
    shown = [row for row in found.splitlines() if message in row]
    assert shown, found
    assert any(row.startswith(f"test.n3:{line}: ") for row in shown), (line, found)


@pytest.mark.parametrize("field", REQUIRED)
def test_missing_field(field: str) -> None:
    """Each required field is asked for, where the rule begins."""
    lines = [row for row in GOOD.splitlines() if not row.startswith(f"  ec:{field} ")]

    found = _mistake("\n".join(lines))

    assert f"test.n3:{_line(GOOD, 'rule:ENV031 a')}: rule ENV031 has no ec:{field}" in found


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("?package ec:role ?role", "?package ec:rol ?role", "did you mean ec:role?"),
        (LEVEL, "?level math:notGreatherThan ?limit .", "did you mean math:notGreaterThan?"),
        (TABLE, "ex:x ec:breaksAt 2 .", "add: @prefix ex: <urn:envcheck:ex:> ."),
        ("ec:guards", "ec:gards", "did you mean ec:guards?"),
        (LEVEL, "(?level ?limit) math:sum ?sum .", "compute it in Python"),
    ],
)
def test_hint(old: str, new: str, hint: str) -> None:
    """A hint says what to write instead."""
    assert hint in _mistake(_changed(old, new))


def test_all_mistakes_at_once() -> None:
    """One run lists the mistakes of all files, in the order of files and lines."""
    bad = GOOD.replace("ec:severity ec:error", "ec:severity ec:bad").replace("ec:role", "ec:rol")
    good = GOOD.replace("ENV031", "ENV032").replace("ec:breaksAt a ec:Predicate .", "")

    with pytest.raises(RuleError) as caught:
        compile_sources({"b.n3": bad.encode(), "a.n3": (good + "ec:x ec:y .\n").encode()}, WORDS)

    message = str(caught.value)
    places = [row.split(": ")[0] for row in message.splitlines() if ".n3:" in row]
    assert message.startswith("3 mistakes")
    assert places == ["a.n3:32", "b.n3:15", "b.n3:26"]


def test_syntax_errors_do_not_hide_the_rest() -> None:
    """After a syntax error the next statement is read as usual."""
    text = _changed(TABLE, "ec:runtime ec:breaksAt .\nec:other ec:breaks 3 .")

    found = _mistake(text)

    assert "syntax error" in found
    assert "undeclared predicate ec:breaks" in found


def test_same_id_in_two_files() -> None:
    """An id belongs to one file."""
    sources = {"a.n3": GOOD.encode(), "b.n3": GOOD.encode()}

    with pytest.raises(RuleError, match=r"b\.n3:10: rule ENV031 is defined in a\.n3 too"):
        compile_sources(sources, WORDS)


def test_guard_of_another_file() -> None:
    """The message says where the rule is defined."""
    other = GOOD.replace("rule:ENV031", "rule:ENV032").replace(GUARD, "").replace(
        "{ rule:ENV032 ec:state", "{ rule:ENV031 ec:state"
    )  # fmt: skip

    with pytest.raises(RuleError, match=r"hint: it is defined in a\.n3"):
        compile_sources({"a.n3": GOOD.encode(), "b.n3": other.encode()}, WORDS)


def test_negation_cycle() -> None:
    """A cycle through a negated pattern is found across rules."""
    text = (
        GOOD
        + """
{ rule:ENV031 ec:state ec:enabled . ?p ec:violates rule:ENV031 . } => { ?p ec:waived ec:yes } .
"""
    )

    assert "negation cycle: ENV031 → ENV031" in _mistake(text)


def test_user_ids() -> None:
    """Users choose ids of their own form; the built-in rules do not."""
    text = GOOD.replace("ENV031", "ACME7")

    assert list(compile_text(text, built_in=False)["rules"]) == ["ACME7"]
    assert "bad rule id 'ACME7'" in _mistake(text)


def test_classes_can_be_closed_too() -> None:
    """With a set of classes a typo behind `a` is found."""
    words = Words(predicates=WORDS.predicates, classes=frozenset({"ec:Pair"}))
    text = _changed(LEVEL, "?package a ec:Pare .")

    with pytest.raises(RuleError, match=r"undeclared class ec:Pare\nhint: did you mean ec:Pair\?"):
        compile_text(text, words=words)
    compile_text(text.replace("ec:Pare", "ec:Pair"), words=words)
    compile_text(text + "ec:Pare a ec:Class .", words=words)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no rule and no fact in this file"),
        (b"# nothing but a comment\n", "no rule and no fact in this file"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * (FILE_LIMIT + 1), "larger than 1 MiB"),
        (b"@prefix ec: <urn:envcheck:ec:> .\nec:x ec:value [[[[[", "syntax error"),
        (b"{" * 5000, "syntax error"),
    ],
)
def test_hostile_file(tmp_path: Path, content: bytes, message: str) -> None:
    """Anything that is no rule file is told in one line."""
    (tmp_path / "bad.n3").write_bytes(content)

    with pytest.raises(RuleError, match=message) as caught:
        compile_folder(tmp_path, WORDS)
    assert "bad.n3" in str(caught.value)


def test_folder_without_rules(tmp_path: Path) -> None:
    """A missing or empty folder is a mistake, not an empty set of rules."""
    with pytest.raises(RuleError, match=r"holds no \.n3 file"):
        compile_folder(tmp_path, WORDS)
    with pytest.raises(RuleError, match="no such folder"):
        compile_folder(tmp_path / "missing", WORDS)
