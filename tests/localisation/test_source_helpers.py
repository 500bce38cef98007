"""Arguments that reach a call through functions, classes and files of the program."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from envcheck.localisation.source_lines import Frame, Hints, SourceLines
from tests.localisation.source_programs import Program

DECORATOR = "def d(fn):\n    def w(*a, **k):\n        return fn(*a, **k)\n    return w\n"

HELPERS = {
    "by position": ("def f(u, r):\n    return Dropout(rate=r)\nf(1, 0.9)", 0, (3, 6)),
    "by keyword": ("def f(r):\n    return Dropout(rate=r)\nf(r=0.9)", 0, (3, 5)),
    "default of the helper": ("def f(r=0.9):\n    return Dropout(rate=r)\nf()", 0, (1, 9)),
    "keyword-only default": ("def f(*, r=0.9):\n    Dropout(rate=r)\nf()", 0, (1, 12)),
    "constant at the caller": ("R = 0.9\ndef f(r):\n    Dropout(rate=r)\nf(R)", 0, (1, 5)),
    "constant after the helper": ("def f():\n    Dropout(rate=R)\nR = 0.9\nf()", 0, (3, 5)),
    "constant changed in between": (
        "R = 0.1\ndef f():\n    Dropout(rate=R)\nf()\nR = 0.9\nf()", 1, (5, 5),
    ),
    "two deep": (
        "def f(r):\n    Dropout(rate=r)\ndef g(q):\n    f(q)\ng(0.9)", 0, (5, 3),
    ),
    "keywords passed on": ("def f(**kw):\n    Dropout(**kw)\nf(rate=0.9)", 0, (3, 8)),
    "positions passed on": ("def f(*a):\n    Dropout(*a)\nf(0.9)", 0, (3, 3)),
    "local variable": ("def f(r):\n    r = 0.9\n    Dropout(rate=r)\nf(0.1)", 0, (2, 9)),
    "method": (
        "class B:\n    def f(self, r):\n        Dropout(rate=r)\nB().f(0.9)", 0, (4, 7),
    ),
    "static method": (
        "class B:\n    @staticmethod\n    def f(r):\n        Dropout(rate=r)\nB.f(0.9)", 0, (5, 5),
    ),
    "constructor": (
        "class B:\n    def __init__(self, r):\n        Dropout(rate=r)\nB(0.9)", 0, (4, 3),
    ),
    "lambda": ("f = lambda r: Dropout(rate=r)\nf(0.9)", 0, (2, 3)),
    "decorated": (
        DECORATOR + "@d\ndef f(r):\n    Dropout(rate=r)\nf(0.9)", 0, (8, 3),
    ),
    "decorated, by keyword": (
        DECORATOR + "@d\ndef f(r):\n    Dropout(rate=r)\nf(r=0.9)", 0, (8, 5),
    ),
    "in a comprehension": (
        "def f(r):\n    return [Dropout(rate=r) for _ in 'ab']\nf(0.9)", 1, (3, 3),
    ),
    "closure that still runs": (
        "def f(r):\n    def g():\n        Dropout(rate=r)\n    g()\nf(0.9)", 0, (5, 3),
    ),
    "closure that outlives": (
        "def f(r):\n    def g():\n        Dropout(rate=r)\n    return g\nf(0.9)()", 0, (3, 22),
    ),
    "computed": ("def f(n):\n    Dropout(rate=n / 10)\nf(9)", 0, (2, 18)),
    "attribute of an object": (
        "class A:\n    pass\na = A()\na.r = 0.9\nDropout(rate=a.r)", 0, (5, 14),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELPERS)
def test_through_helpers(tmp_path: Path, name: str) -> None:
    """The value is where the caller writes it, or the default of the helper."""
    text, call, (line, column) = HELPERS[name]
    program = Program(tmp_path, text)
    assert program.place("rate", call, callee="Dropout") == (line, column, False)


def test_one_helper_line_with_two_callers(tmp_path: Path) -> None:
    """Both layers are made on line 2; their arguments are at their own callers."""
    text = 'def f(u, **kw):\n    return Dense(u, **kw)\nf(8, activation="elu")\nf(4)'
    program = Program(tmp_path, text)
    lines = [[frame.line for frame in frames][:2] for frames in program.frames]
    assert lines == [[2, 3], [2, 4]]
    assert program.place("units", 0, callee="Dense") == (3, 3, False)
    assert program.place("units", 1, callee="Dense") == (4, 3, False)
    assert program.place("activation", 0) == (3, 17, False)
    assert program.place("activation", 1) == (2, 12, True)


def test_a_helper_in_another_file(tmp_path: Path) -> None:
    """The layer is made in one file and its rate is written in another."""
    module = tmp_path / "blocks.py"
    module.write_text("def block(layer, r):\n    return layer(rate=r)\n", encoding="utf-8")
    text = f"import runpy\nblock = runpy.run_path({str(module)!r})['block']\nblock(Dropout, 0.9)"
    program = Program(tmp_path, text)
    assert [frame.line for frame in program.frames[0]][:2] == [2, 3]
    site = program.argument("rate")
    assert site is not None
    assert (site["file"], site["line"], site["column"]) == ("train.py", 3, 16)
    made = program.lines.call(program.frames[0])
    assert made is not None
    assert (made["file"], made["line"]) == ("blocks.py", 2)


def test_no_source_gives_nothing(tmp_path: Path) -> None:
    """Text that is run without a file has no lines, and a missing file has no text."""
    lines = SourceLines(str(tmp_path))
    for frames in ([], [Frame("<string>", 1)], [Frame(str(tmp_path / "gone.py"), 3)]):
        assert lines.argument(frames, "activation") is None
    site = lines.call([Frame(str(tmp_path / "gone.py"), 3)])
    assert site is not None
    assert (site["file"], site["line"], site["text"]) == ("gone.py", 3, "")


@pytest.mark.parametrize(
    "content",
    [
        b"Dense(3\n", b"match = \x00\n", b"# -*- coding: klingon -*-\nDense(3)\n", b"\xff\xfeD",
        b"Dense(" + b"(" * 5000 + b")" * 5000 + b")\n", b"", b"def f(:\n  type X[T] = int\n",
    ],
    ids=["unclosed", "null byte", "encoding", "no text", "deep", "empty", "new syntax"],
)  # fmt: skip
def test_what_cannot_be_read_gives_nothing(tmp_path: Path, content: bytes) -> None:
    """A file that is no Python, or none of this Python, has lines but no arguments."""
    file = tmp_path / "odd.py"
    file.write_bytes(content)
    lines = SourceLines(str(tmp_path))
    frames = [Frame(str(file), 1, 1, 0, 8)]
    assert lines.argument(frames, "units") is None
    site = lines.call(frames)
    assert site is not None
    assert (site["file"], site["line"]) == ("odd.py", 1)


def test_other_encodings(tmp_path: Path) -> None:
    """Columns count characters whatever the bytes of the file."""
    file = tmp_path / "latin.py"
    file.write_bytes('# -*- coding: latin-1 -*-\nDense(name="é", units=3)\n'.encode("latin-1"))
    frames = [Frame(str(file), 2)]
    site = SourceLines(str(tmp_path)).argument(frames, "units", Hints(callee="Dense"))
    assert site is not None
    assert (site["column"], site["text"]) == (23, 'Dense(name="é", units=3)')


def test_windows_line_ends(tmp_path: Path) -> None:
    """Lines may end in two characters."""
    file = tmp_path / "crlf.py"
    file.write_bytes(b"x = 1\r\nDense(\r\n  units=3)\r\n")
    site = SourceLines(str(tmp_path)).argument([Frame(str(file), 2)], "units")
    assert site is not None
    assert (site["line"], site["column"], site["text"]) == (3, 9, "units=3)")


def test_a_notebook_cell(tmp_path: Path) -> None:
    """Cells of a notebook have no file, but Python keeps their lines under a name."""
    name = "<ipython-input-3-0>"
    linecache.cache[name] = (20, None, ["x = 1\n", "Dense(units=3)\n"], name)
    try:
        site = SourceLines(str(tmp_path)).argument([Frame(name, 2)], "units")
    finally:
        del linecache.cache[name]
    assert site is not None
    assert (site["file"], site["line"], site["column"]) == (name, 2, 13)


def test_names_that_lead_in_a_circle(tmp_path: Path) -> None:
    """A name of itself ends somewhere, and a recursive helper at its outermost call."""
    text = "def f(r):\n    r = r\n    Dropout(rate=r)\nf(0.9)"
    assert Program(tmp_path, text).place("rate")[0] in (2, 4)
    recursive = (
        "def f(n, r):\n    if n:\n        f(n - 1, r)\n    else:\n        Dropout(r)\nf(2, 0.9)"
    )
    assert Program(tmp_path, recursive).place("rate", callee="Dropout") == (6, 6, False)


def test_the_text_of_a_line_is_cleaned_and_cut(tmp_path: Path) -> None:
    """What is not to be shown is taken out before a line is cut."""
    file = tmp_path / "a.py"
    file.write_text("x = '" + "y" * 300 + "'\n", encoding="utf-8")
    lines = SourceLines(str(tmp_path), clean=lambda text: text.replace("y", "z"))
    site = lines.line(str(file), 1)
    assert site["text"] == "x = '" + "z" * 115
    assert SourceLines(str(tmp_path / "deeper")).line(str(file), 1)["file"] == "a.py"
