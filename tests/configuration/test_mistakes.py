"""Every kind of mistake is told with its place and a hint, and all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from envcheck.errors import ConfigError
from tests.configuration.files import load

if TYPE_CHECKING:
    from pathlib import Path

WAIVER = '[[waivers]]\nrule = "ENV042"\nreason = "x"\nexpires = 2026-12-31\n'

MISTAKES = {
    "unknown key": ("strickt = true", 1, "unknown key 'strickt'", "did you mean strict?"),
    "unknown key, nothing near": ("zzz = 1", 1, "unknown key 'zzz'", "the keys are profile,"),
    "underscore": ("fail_on = 'error'", 1, "unknown key 'fail_on'", "did you mean fail-on?"),
    "key of another table": ("drift = {}", 1, "unknown key 'drift'", "write it under [policy]"),
    "option in the policy": (
        "[policy]\nstrict = true", 2, "unknown key 'strict' in policy", "at the top of the file",
    ),
    "unknown key in a waiver": (
        WAIVER + "facts = 'x'", 5, "unknown key 'facts' in waivers[1]", "did you mean fact?",
    ),
    "word outside a list": (
        "fail-on = 'warnings'", 1, "fail-on: 'warnings' is none of error, warning, never",
        "did you mean warning?",
    ),
    "text for a flag": ("strict = 'yes'", 1, 'strict must be true or false, not "yes"', ""),
    "number for a text": ("profile = 3", 1, "profile must be a text, not 3", ""),
    "text for a table": ("profiles = 'x'", 1, 'profiles must be a table, not "x"', ""),
    "text for a list": ("[policy]\nrequire = 'x'", 2, "policy.require must be a list", ""),
    "table for a list": ("[waivers]\nrule = 'x'", 1, "waivers must be a list, not a table", ""),
    "list for a number": ("max-waiver-days = []", 1, "max-waiver-days must be a whole number", ""),
    "number out of range": (
        "max-waiver-days = 0", 1, "max-waiver-days: 0 is not from 1 to 3650", "",
    ),
    "unknown role": (
        "[policy.roles]\nx = 'preproces'", 2, "unknown role 'preproces'",
        "did you mean preprocess?",
    ),
    "bad package name": (
        "[policy.roles]\n'a b' = 'dev'", 2, "'a b' is no name of a package", "as pip lists it",
    ),
    "unknown drift": (
        "[policy.drift]\nnumpy = 'minr'", 2, "policy.drift.numpy: 'minr' is none of none, patch",
        "did you mean minor?",
    ),
    "role without its prefix": (
        "[policy.drift]\nruntime = 'any'", 2, "'runtime' is a role", 'write "role:runtime"',
    ),
    "unknown role in drift": (
        "[policy.drift]\n'role:runtimes' = 'any'", 2, "unknown role 'runtimes'",
        "did you mean runtime?",
    ),
    "bad requirement": (
        "[policy]\nrequire = ['numpy >> 1']", 2, "'numpy >> 1' has no valid version range",
        'like "numpy>=1.26,<3"',
    ),
    "requirement with a marker": (
        "[policy]\nforbid = [\n 'numpy',\n \"torch; python_version < '3'\"]", 4,
        "has a marker, which the policy does not read", "",
    ),
    "no requirement": ("[policy]\nrequire = ['']", 2, "'' is no requirement", ""),
    "required twice": (
        "[policy]\nrequire = ['A-b>1', 'a_B']", 2, "a-b is listed twice", "with a comma",
    ),
    "bad root": ("[policy]\nroots = ['x==1']", 2, "'x==1' is no name of a package", ""),
    "unknown rule": (
        "[policy.severity]\nENV700 = 'info'", 2, "unknown rule 'ENV700'", "did you mean ENV",
    ),
    "unknown severity": (
        "[policy.severity]\nENV070 = 'err'", 2,
        "policy.severity.ENV070: 'err' is none of error, warning, info", "did you mean error?",
    ),
    "the rule that applies policies": (
        "[policy]\ndisable = ['ENV099']", 2, "ENV099 cannot be disabled", "",
    ),
    "waiver of all rules": (
        WAIVER.replace("ENV042", "*"), 2, "'*' is no rule", "a waiver names one rule",
    ),
    "waiver of an unknown rule": (
        WAIVER.replace("ENV042", "ENV0042"), 2, "unknown rule 'ENV0042'", "did you mean ENV042?",
    ),
    "waiver of a report on waivers": (
        WAIVER.replace("ENV042", "ENV096"), 2, "reports on the policy itself", "disable",
    ),
    "no reason": (
        WAIVER.replace('reason = "x"\n', ""), 1, "waivers[1] has no 'reason'", "",
    ),
    "empty reason": (WAIVER.replace('"x"', '" "'), 3, "the reason is empty", "say why"),
    "no expiry": (WAIVER.replace("expires = 2026-12-31\n", ""), 1, "has no 'expires'", ""),
    "no date": (
        WAIVER.replace("2026-12-31", "'soon'"), 4, "waivers[1].expires: 'soon' is no date",
        "write 2026-12-31",
    ),
    "too far ahead": (
        WAIVER.replace("2026-12-31", "2027-05-30"), 4,
        "expires 2027-05-30, more than 180 days ahead", "at most 2027-05-29 today",
    ),
    "waived twice": (WAIVER + WAIVER, 5, "a second waiver of ENV042 for any fact", "keep one"),
    "unknown profile": ("profile = 'bitexact'", 1, "unknown profile 'bitexact'", "bit-exact?"),
    "profile of a shipped name": (
        "[profiles.fl4deep]", 1, "profile 'fl4deep' ships with envcheck", "choose another name",
    ),
    "profile extends nothing known": (
        "[profiles.a]\nextends = 'onnx'", 2, "unknown profile 'onnx'", "the profiles are a, bit-",
    ),
    "profile extends itself": (
        "[profiles.a]\nextends = 'a'", 1, "profile 'a' extends itself: a → a", "",
    ),
    "unknown key in a profile": (
        "[profiles.a]\nextend = 'default'", 2, "unknown key 'extend' in profiles.a", "extends?",
    ),
    "not TOML": ("a = 1\nb = \n", 2, "is not TOML: invalid value", "toml.io"),
    "a key twice": ("strict = true\nstrict = true\n", 2, "is not TOML", ""),
    "include that is not there": ("policy = 'no.toml'", 0, "no such file", "includes it"),
    "baseline that is not there": ("baseline = 'no.json'", 0, "no such file", "write one with"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_place_problem_and_hint(name: str, tmp_path: Path) -> None:
    """The place is file and line; the hint says what to write instead."""
    text, line, problem, hint = MISTAKES[name]
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, files={"envcheck.toml": text})

    file = str(tmp_path / "envcheck.toml")
    if line:
        assert caught.value.place == f"{file}:{line}"
    else:
        assert caught.value.place.startswith(str(tmp_path / "no."))
    assert problem.lower() in caught.value.problem.lower()
    assert hint in caught.value.hint
    assert caught.value.exit_code == 2


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Mistakes of every kind and of included files are told together, by file and line."""
    files = {
        "envcheck.toml": "strct = 1\npolicy = 'p.toml'\nwaivers = 'w.toml'\nfail-on = 'x'\n",
        "p.toml": "\n[drift]\nnumpy = 'all'\nroles = 3\n",
        "w.toml": "[[waivers]]\nrule = 'ENV1'\nreason = 'x'\nexpires = 2026-12-01\n[more]\n",
    }
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, files=files)

    heads = [line for line in str(caught.value).splitlines() if line.startswith(str(tmp_path))]
    places = [line.removeprefix(f"{tmp_path}/").partition(": ")[0] for line in heads]
    assert places == [
        "envcheck.toml:1", "envcheck.toml:4", "p.toml:3", "p.toml:4", "w.toml:2", "w.toml:5",
    ]  # fmt: skip
    assert caught.value.problem.startswith("6 mistakes in the configuration\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xff", "is not UTF-8"), (b"a" * ((1 << 20) + 1), "at most 1 MiB are read")],
)
def test_a_file_that_is_no_text(content: bytes, problem: str, tmp_path: Path) -> None:
    """It is refused with its name."""
    file = tmp_path / "envcheck.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)

    assert caught.value.place == str(file)
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("ENVCHECK_FAIL_ON", "eror", "ENVCHECK_FAIL_ON: 'eror' is none of error, warning, never"),
        ("ENVCHECK_STRICT", "maybe", "ENVCHECK_STRICT: 'maybe' is neither true nor false"),
        ("ENVCHECK_STRCIT", "1", "unknown variable; did you mean ENVCHECK_STRICT?"),
        ("ENVCHECK_FAILON", "error", "unknown variable; did you mean ENVCHECK_FAIL_ON?"),
        ("ENVCHECK_PROFILE", "bitexact", "unknown profile 'bitexact'"),
        ("ENVCHECK_CONFIG", "none.toml", "no such file"),
        ("ENVCHECK_WAIVERS", "none.toml", "no such file"),
        ("ENVCHECK_BASELINE", "none.json", "no such file"),
    ],
)
def test_a_mistake_in_a_variable(variable: str, value: str, problem: str, tmp_path: Path) -> None:
    """A variable is checked like a key, and named."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environment={variable: value})

    assert problem in str(caught.value)


def test_mistakes_on_the_command_line_are_named(tmp_path: Path) -> None:
    """An option that was typed is not blamed on a file."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, options={"profile": "bit-exakt"})

    assert str(caught.value).splitlines()[0] == "command line: unknown profile 'bit-exakt'"
