"""Finding and running EYE, with stand-ins for what can go wrong."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from envcheck.errors import EnvcheckError, InputError, UsageError
from envcheck.reasoning import Body, FactBase, Implication, infer
from envcheck.reasoning import eye as eye_engine
from envcheck.reasoning.eye import Eye, find_eye
from envcheck.reasoning.n3 import read_triples

STRINGS = [
    '"',
    '"quote " end"',
    '"back\\slash',
    '"two\nlines',
    '"tab\t',
    '"é 😀 \x7f',
    '"a\\nb',
    '"""',
]


def _script(path: Path, body: str) -> Path:
    path.write_text(f"#!{sys.executable}\nimport sys, os, time\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_all_terms_survive(eyes: list[Eye]) -> None:
    """Facts of every kind go to EYE and come back as the same terms."""
    terms = [*STRINGS, "1", "-3", "1.0", "-2.5", "1e-07", "1e+20", "true", "false", "pkg:a+b/c é%"]
    base = FactBase([("pkg:x.y", "ec:p", term) for term in terms])
    rules = [Implication("CPY001", Body([("?s", "ec:p", "?o")]), [("?s", "rdf:type", "?o")])]

    for eye in eyes:
        assert eye_engine.infer(base, rules, eye) == infer(base, rules).facts


def test_syntax_error_is_told(eyes: list[Eye]) -> None:
    """EYE's own error line is in the message, also where EYE exits 0."""
    for eye in eyes:
        with pytest.raises(EnvcheckError, match=r"EYE: \*\* ERROR \*\*"):
            eye.run({"bad.n3": "this is not n3"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('** ERROR ** gre ** no such file')", r"EYE: \*\* ERROR \*\* gre"),
        ("sys.stderr.write('** ERROR ** x\\n')", r"\*\* ERROR \*\* x"),
        ("sys.stderr.write('boom'); sys.exit(3)", "EYE exited with 3: boom"),
        ("time.sleep(60)", "did not finish within 1 s"),
        ("print('<a> <b> _:blank .')", "not a ground triple"),
    ],
)
def test_failures(tmp_path: Path, body: str, message: str) -> None:
    """No failure of EYE reads as an empty result."""
    eye = Eye((str(_script(tmp_path / "eye", body)),))

    with pytest.raises((EnvcheckError, InputError), match=message):
        eye.run({"facts": ""}, timeout=1)


def test_runs_elsewhere_and_restricted(tmp_path: Path) -> None:
    """EYE runs in a folder of its own, without the built-ins that reach outside."""
    body = f"open({str(tmp_path / 'seen')!r}, 'w').write(repr((os.getcwd(), sys.argv[1:])))"
    Eye((str(_script(tmp_path / "eye", body)),)).run({"a": "", "b": ""})

    folder, arguments = eval((tmp_path / "seen").read_text())
    assert not Path(folder).exists()
    assert "--restricted" in arguments
    assert arguments[-2:] == ["input0.n3", "input1.n3"]


def test_find_by_variable(tmp_path: Path) -> None:
    """The variable names a command or script; a wrong name is an error."""
    script = _script(tmp_path / "reasoner", "")

    assert find_eye({"ENVCHECK_EYE": str(script), "PATH": ""}) == Eye((str(script),))
    assert find_eye({"ENVCHECK_EYE": "reasoner", "PATH": str(tmp_path)}) == Eye((str(script),))
    with pytest.raises(UsageError, match="names no file"):
        find_eye({"ENVCHECK_EYE": str(tmp_path / "missing"), "PATH": ""})


def test_find_on_path(tmp_path: Path) -> None:
    """Images need SWI-Prolog; a command `eye` must be the reasoner."""
    path = {"PATH": str(tmp_path)}
    assert find_eye(path) is None

    script = _script(tmp_path / "eyereasoner", "")
    assert find_eye(path) == Eye((str(script),))
    eye = _script(tmp_path / "eye", "print('eye monitor 3.1')")
    assert find_eye(path) == Eye((str(script),))
    _script(eye, "print('EYE v23.0209.1957 josd')")
    assert find_eye(path) == Eye((str(eye),))
    image = _script(tmp_path / "eye.pvm", "")
    assert find_eye(path) == Eye((str(eye),))
    prolog = _script(tmp_path / "swipl", "")
    assert find_eye(path) == Eye((str(prolog), "-x", str(image), "--"))


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without EYE the message says how to get it."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("ENVCHECK_EYE", raising=False)

    with pytest.raises(UsageError, match="apt-get install eye"):
        eye_engine.infer(FactBase(), [])


def test_output_forms() -> None:
    """Prefix lines, `a`, typed literals and both kinds of string are read."""
    text = (
        "@prefix : <urn:x:>.\n\n"
        "<urn:envcheck:ec:a> a <urn:envcheck:ec:C>.\n"
        "<urn:envcheck:ec:a> <urn:envcheck:ec:p> "
        '"5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        '<urn:envcheck:ec:a> <urn:envcheck:ec:p> """x\n" \\n""".\n'
    )

    assert list(read_triples(text)) == [
        ("ec:a", "rdf:type", "ec:C"),
        ("ec:a", "ec:p", "5"),
        ("ec:a", "ec:p", '"x\n" \\n'),
    ]
