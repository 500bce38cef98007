"""One-rule programs for every built-in, with the answer that EYE's versions agree on.

A program is a set of facts and a rule body; the answer says whether the body matches. Numbers
in the names only keep them apart: each program runs in its own namespace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from envcheck.reasoning import FactBase, Implication
from envcheck.rulebook.compiling import compile_sources
from envcheck.rulebook.loading import Rulebook
from envcheck.rulebook.words import Words

__all__ = ["PROGRAMS", "Program", "compiled", "source"]

PREFIXES = """\
@prefix ec: <urn:envcheck:ec:> .
@prefix rule: <urn:envcheck:rule:> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix log: <http://www.w3.org/2000/10/swap/log#> .
@prefix math: <http://www.w3.org/2000/10/swap/math#> .
@prefix string: <http://www.w3.org/2000/10/swap/string#> .
@prefix list: <http://www.w3.org/2000/10/swap/list#> .
"""
_METADATA = """\
rule:TST001 a ec:Rule ; ec:name "test" ; ec:fault "test" ; ec:since "0.1" ; ec:status "preview" ;
  ec:severity ec:info ; ec:basis ec:inferred ; ec:title "test" ; ec:detail "test" ; ec:fix "test" .
"""
_GUARD = "rule:TST001 ec:state ec:enabled ."
_WORDS = re.compile(r"\bec:([a-z]+)\b")
_SHARED = {"state", "enabled", "violates", "it"}


@dataclass(frozen=True)
class Program:
    """Facts, a body, further rules, and whether the body matches."""

    name: str
    facts: str
    body: str
    holds: bool
    more: str = ""


def _pair(name: str, built_in: str, left: str, right: str, holds: bool) -> Program:
    facts = f"ec:s ec:a {left} ; ec:b {right} ."
    return Program(name, facts, f"ec:s ec:a ?a ; ec:b ?b . ?a {built_in} ?b .", holds)


def _test(name: str, value: str, test: str, holds: bool) -> Program:
    return Program(name, f"ec:s ec:a {value} .", f"ec:s ec:a ?a . {test} .", holds)


def _without(name: str, facts: str, absent: str, holds: bool, more: str = "") -> Program:
    body = f"ec:s ec:a ?a . ?SCOPE log:notIncludes {{ {absent} }} ."
    return Program(name, facts, body, holds, more)


PROGRAMS = [
    _pair("log-equal-iri", "log:equalTo", "ec:x", "ec:x", True),
    _pair("log-equal-other-iri", "log:equalTo", "ec:x", "ec:y", False),
    _pair("log-equal-string", "log:equalTo", '"x"', '"x"', True),
    _pair("log-equal-case", "log:equalTo", '"x"', '"X"', False),
    _pair("log-equal-boolean", "log:equalTo", "true", "true", True),
    _pair("log-equal-integer-decimal", "log:equalTo", "1", "1.0", False),
    _pair("log-equal-string-integer", "log:equalTo", '"1"', "1", False),
    _pair("log-equal-string-boolean", "log:equalTo", '"true"', "true", False),
    _pair("log-not-equal-iri", "log:notEqualTo", "ec:x", "ec:y", True),
    _pair("log-not-equal-same", "log:notEqualTo", "ec:x", "ec:x", False),
    _pair("log-not-equal-integer-decimal", "log:notEqualTo", "1", "1.0", True),
    _pair("log-not-equal-string-integer", "log:notEqualTo", '"1"', "1", True),
    _pair("math-equal-integer-decimal", "math:equalTo", "1", "1.0", True),
    _pair("math-equal-decimal-double", "math:equalTo", "10.0", "1.0e1", True),
    _pair("math-equal-other", "math:equalTo", "1", "2", False),
    _pair("math-not-equal", "math:notEqualTo", "1", "2", True),
    _pair("math-not-equal-same-value", "math:notEqualTo", "1", "1.0", False),
    _pair("math-greater", "math:greaterThan", "2", "1", True),
    _pair("math-greater-equal-value", "math:greaterThan", "1", "1.0", False),
    _pair("math-greater-mixed", "math:greaterThan", "1.5", "1", True),
    _pair("math-greater-not-by-text", "math:greaterThan", "10", "9", True),
    _pair("math-less", "math:lessThan", "1", "2", True),
    _pair("math-less-not", "math:lessThan", "2", "1", False),
    _pair("math-less-negative", "math:lessThan", "-2", "-1.5", True),
    _pair("math-less-double", "math:lessThan", "99", "1.0e2", True),
    _pair("math-not-less-equal", "math:notLessThan", "2", "2.0", True),
    _pair("math-not-less", "math:notLessThan", "1", "2", False),
    _pair("math-not-greater-equal", "math:notGreaterThan", "2", "2.0", True),
    _pair("math-not-greater", "math:notGreaterThan", "3", "2", False),
    _pair("string-starts", "string:startsWith", '"numpy"', '"num"', True),
    _pair("string-starts-not", "string:startsWith", '"numpy"', '"py"', False),
    _pair("string-ends", "string:endsWith", '"numpy"', '"py"', True),
    _pair("string-ends-not", "string:endsWith", '"numpy"', '"num"', False),
    _pair("string-contains", "string:contains", '"numpy"', '"ump"', True),
    _pair("string-contains-not", "string:contains", '"numpy"', '"U"', False),
    _pair("string-ignoring-case", "string:equalIgnoringCase", '"CUDA"', '"cuda"', True),
    _pair("string-ignoring-case-not", "string:equalIgnoringCase", '"CUDA"', '"cud"', False),
    _pair("string-less", "string:lessThan", '"a"', '"b"', True),
    _pair("string-less-same", "string:lessThan", '"a"', '"a"', False),
    _pair("string-less-by-code", "string:lessThan", '"B"', '"a"', True),
    _pair("string-less-by-text", "string:lessThan", '"10"', '"9"', True),
    _pair("string-greater", "string:greaterThan", '"b"', '"a"', True),
    _pair("string-greater-same", "string:greaterThan", '"a"', '"a"', False),
    _test("matches", '"cp311"', '?a string:matches "^cp3[0-9]+$"', True),
    _test("matches-inside", '"a cp311"', '?a string:matches "p3"', True),
    _test("matches-not", '"pp311"', '?a string:matches "^cp"', False),
    _test("in", '"b"', '?a list:in ("a" "b")', True),
    _test("in-not", '"c"', '?a list:in ("a" "b")', False),
    _test("in-other-type", "1", '?a list:in (1.0 "1" true)', False),
    _test("member", "ec:y", "(ec:x ec:y) list:member ?a", True),
    Program("binds", "ec:s ec:a ec:y .", "(ec:x ec:y) list:member ?a . ec:s ec:a ?a .", True),
    _without("absent", "ec:s ec:a 1 .", "ec:s ec:b ?b", True),
    _without("absent-not", "ec:s ec:a 1 ; ec:b 2 .", "ec:s ec:b ?b", False),
    _without("absent-bound", "ec:s ec:a 1 ; ec:b 2 .", "ec:s ec:b ?a", True),
    _without("half", "ec:s ec:a 1 ; ec:b ec:x . ec:y ec:c 1 .", "ec:s ec:b ?b . ?b ec:c ?c", True),
    _without("both", "ec:s ec:a 1 ; ec:b ec:x . ec:x ec:c 1 .", "ec:s ec:b ?b . ?b ec:c ?c", False),
    _without("more", "ec:s ec:a 1 ; ec:b 2 .", "ec:s ec:b ?b . ?b math:greaterThan 2", True),
    _without("more-not", "ec:s ec:a 1 ; ec:b 2 .", "ec:s ec:b ?b . ?b math:greaterThan ?a", False),
    _without(
        "absent-derived", "ec:s ec:a 1 ; ec:b 2 .", "ec:s ec:c ?c", False,
        "{ ec:s ec:b ?b } => { ec:s ec:c ?b }",
    ),
    _without(
        "absent-not-derived", "ec:s ec:a 1 .", "ec:s ec:c ?c", True,
        "{ ec:s ec:b ?b } => { ec:s ec:c ?b }",
    ),
]  # fmt: skip
"""All programs that every engine must answer alike."""

OUTSIDE = [
    _pair("math-plain-string", "math:greaterThan", '"5"', "1", False),
]
"""Programs on which EYE's versions differ: numbers must be typed. The answer is ours."""


def source(program: Program, number: int) -> str:
    """Return the facts and rules of a program as N3, each name with the number appended."""
    more = re.sub(r"\{ ", f"{{ {_GUARD} ", program.more, count=1)
    rule = f"{{ {_GUARD} {program.body} }} => {{ ec:it ec:violates rule:TST001 }} ."
    text = f"{program.facts}\n{rule}\n" + (f"{more} .\n" if more else "")
    return _WORDS.sub(
        lambda m: m.group() if m.group(1) in _SHARED else f"ec:{m.group(1)}{number}", text
    ).replace("ec:it", f"ec:it{number}")


def compiled(program: Program, number: int) -> tuple[FactBase, list[Implication]]:
    """Return a program for the built-in engine, through the rule compiler."""
    text = PREFIXES + _METADATA + source(program, number)
    words = Words(predicates=frozenset(f"ec:{name}{number}" for name in "abc"))
    rulebook = Rulebook.from_data(compile_sources({"test.n3": text.encode()}, words))
    base = FactBase()
    rulebook.assert_into(base)
    return base, rulebook.implications
