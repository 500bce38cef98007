"""Every built-in of the profile, on the built-in engine and on EYE."""

from __future__ import annotations

import pytest

from envcheck.reasoning import infer
from envcheck.reasoning.built_ins import REGEX_INPUT_LIMIT, TESTS
from envcheck.reasoning.eye import Eye
from tests.reasoning.programs import OUTSIDE, PREFIXES, PROGRAMS, Program, compiled, source

VIOLATES = "ec:violates"


@pytest.mark.parametrize("program", [*PROGRAMS, *OUTSIDE], ids=lambda program: program.name)
def test_engine(program: Program) -> None:
    """The engine gives the answer that was worked out by hand."""
    base, rules = compiled(program, 0)

    assert bool(infer(base, rules).matching(VIOLATES)) is program.holds


def test_eye(eyes: list[Eye]) -> None:
    """Each installed EYE gives the same answers, reading the text and not our compiled form."""
    texts = [source(program, i) for i, program in enumerate(PROGRAMS)]
    text = PREFIXES + "rule:TST001 ec:state ec:enabled .\n" + "\n".join(texts)
    expected = {f"ec:it{i}" for i, program in enumerate(PROGRAMS) if program.holds}
    # EYE before 2023 takes a predicate that occurs nowhere for an error.
    text += "".join(f"ec:z{p} ec:{p}{i} ec:z .\n" for i in range(len(texts)) for p in "bc")

    for eye in eyes:
        found = {s for s, p, _ in eye.run({"programs.n3": text}) if p == VIOLATES}
        names = {PROGRAMS[int(s.removeprefix("ec:it"))].name for s in found ^ expected}
        assert names == set(), eye.command


def test_every_built_in_has_programs() -> None:
    """No built-in is without a program that holds and one that does not."""
    for built_in in [*TESTS, "list:in", "log:notIncludes"]:
        answers = {p.holds for p in PROGRAMS if built_in in p.body}
        assert answers == {True, False}, built_in


def test_long_subject_never_matches() -> None:
    """A subject over the limit does not match, however simple the pattern."""
    matches = TESTS["string:matches"]

    assert matches('"' + "a" * REGEX_INPUT_LIMIT, '"a$')
    assert not matches('"' + "a" * (REGEX_INPUT_LIMIT + 1), '"a$')
