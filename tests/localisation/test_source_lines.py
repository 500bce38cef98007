"""Lines and columns of arguments in programs that are really run, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envcheck.localisation.source_lines import Frame, Hints, SourceLines
from tests.localisation.source_programs import Program

WRITTEN = {
    "keyword": ('Dense(10, activation="relu")', "activation", 0, (1, 22)),
    "first by position": ("Dense(10)", "units", 0, (1, 7)),
    "second by position": ('Dense(10, "relu")', "activation", 0, (1, 11)),
    "attribute of a module": ('L.Dense(10, "relu")', "activation", 0, (1, 13)),
    "nested call": ('model.add(Dense(10, "relu"))', "activation", 0, (1, 21)),
    "two on a line": ('Dense(1, "elu"); Dense(2, "relu")', "activation", 1, (1, 27)),
    "several lines": ('Dense(\n    10,\n    activation="relu",\n)', "activation", 0, (3, 16)),
    "after a comment": ('Dense(10,  # wide\n  activation="relu")', "activation", 0, (2, 14)),
    "compile by position": ('model.compile("adam", "mse")', "loss", 0, (1, 23)),
    "compile metrics": ('model.compile("adam", metrics=["mae"])', "metrics", 0, (1, 31)),
    "fit epochs": ("model.fit(1, 2, epochs=3)", "epochs", 0, (1, 24)),
    "fit batch size by position": ("model.fit(1, 2, 64)", "batch_size", 0, (1, 17)),
    "own frame of the optimiser": (
        "model.compile(SGD(learning_rate=0.5), 'mse')", "learning_rate", 0, (1, 33),
    ),
    "optimiser in its call": ("model.compile(SGD(0.5), 'mse')", "optimizer", 1, (1, 15)),
    "chain of methods": ("(model\n  .add(1)\n  .compile('adam', 'mse'))", "loss", 1, (3, 20)),
    "constant": ('ACT = "relu"\nDense(10, ACT)', "activation", 0, (1, 7)),
    "annotated constant": ("RATE: float = 0.9\nDropout(RATE)", "rate", 0, (1, 15)),
    "constant through another": ("A = 0.9\nB = A\nDropout(rate=B)", "rate", 0, (1, 5)),
    "last of two assignments": ("r = 0.1\nr = 0.9\nDropout(rate=r)", "rate", 0, (2, 5)),
    "assigned again afterwards": ("r = 0.1\nDropout(rate=r)\nr = 0.9", "rate", 0, (1, 5)),
    "unpacked in pairs": ("u, r = 3, 0.9\nDropout(rate=r)", "rate", 0, (1, 11)),
    "unpacked from a call": ("u, r = divmod(9, 4)\nDropout(rate=r)", "rate", 0, (1, 4)),
    "walrus": ("print(end='') or (r := 0.9)\nDropout(rate=r)", "rate", 0, (1, 24)),
    "dict unpacked": (
        'CFG = {"units": 3, "activation": "relu"}\nDense(**CFG)', "activation", 0, (1, 34),
    ),
    "literal dict unpacked": ('Dense(3, **{"activation": "relu"})', "activation", 0, (1, 27)),
    "dict() unpacked": ('CFG = dict(activation="relu")\nDense(3, **CFG)', "activation", 0, (1, 23)),
    "dict in a dict": (
        'A = {"activation": "relu"}\nB = {**A, "units": 3}\nDense(**B)', "activation", 0, (1, 20),
    ),
    "later key wins": (
        'A = {"rate": 0.1}\nB = {**A, "rate": 0.9}\nDropout(**B)', "rate", 0, (2, 19),
    ),
    "key of a dict": ('CFG = {"rate": 0.9}\nDropout(rate=CFG["rate"])', "rate", 0, (1, 16)),
    "element of a list": ("RATES = [0.1, 0.9]\nDropout(RATES[1])", "rate", 0, (1, 15)),
    "constant of a class": ("class Cfg:\n    RATE = 0.9\nDropout(Cfg.RATE)", "rate", 0, (2, 12)),
    "list unpacked": ('A = [10, "relu"]\nDense(*A)', "activation", 0, (1, 10)),
    "with an alias": ('D = L.Dense\nD(10, activation="relu")', "activation", 0, (2, 18)),
    "partial": (
        'from functools import partial\nD = partial(Dense, activation="relu")\nD(10)',
        "activation", 0, (2, 31),
    ),
    "in a with block": (
        "import io\nwith io.StringIO():\n    r = 0.9\nDropout(rate=r)", "rate", 0, (3, 9),
    ),
    "inside the branch": ("if True:\n    r = 0.9\n    Dropout(rate=r)", "rate", 0, (2, 9)),
    "f-string": ('n = 1\nDense(3, name=f"d{n}", activation="relu")', "activation", 0, (2, 35)),
    "lambda": ('f = lambda: Dense(3, "relu")\nf()', "activation", 0, (1, 22)),
    "comprehension": ("[Dense(u) for u in (4, 8)]", "units", 1, (1, 15)),
    "augmented": ("r = 0.3\nr *= 3\nDropout(rate=r)", "rate", 0, (2, 1)),
    "characters, not bytes": ('Dense(name="größe", activation="relu")', "activation", 0, (1, 32)),
    "tabs": ('if 1:\n\tDense(3, "relu")', "activation", 0, (2, 11)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_the_place_of_a_written_argument(tmp_path: Path, name: str) -> None:
    """Line and column of the value itself, found by where the call ends."""
    text, keyword, call, (line, column) = WRITTEN[name]
    program = Program(tmp_path, text)
    callee = {"rate": "Dropout", "units": "Dense", "activation": "Dense"}.get(keyword)
    assert program.place(keyword, call, callee=callee) == (line, column, False)


ABSENT = {
    "not written": ("x = 1\nDense(10)", "activation", (2, 1, True)),
    "on several lines": ("model.compile(\n  'adam',\n)", "loss", (1, 1, True)),
    "not in the dict": ("A = {'units': 3}\nDense(**A)", "activation", (2, 1, True)),
    "unknown dict": ("A = dict([('units', 3)])\nDense(**A)", "activation", (2, 1, False)),
    "unknown list": ("A = list((3, 'relu'))\nDense(*A)", "activation", (2, 1, False)),
    "computed key": ("k = 'units'\nDense(**{k: 3})", "activation", (2, 1, False)),
}


@pytest.mark.parametrize("name", ABSENT)
def test_an_argument_that_is_not_written(tmp_path: Path, name: str) -> None:
    """`default` is true only where it is certain that nothing was passed."""
    text, keyword, expected = ABSENT[name]
    assert Program(tmp_path, text).place(keyword) == expected


def test_branches_are_decided_by_the_value(tmp_path: Path) -> None:
    """Without the value that was passed, a branch decides nothing."""
    text = "import os\nr = 0.1\nif os.sep:\n    r = 0.9\nDropout(rate=r)"
    program = Program(tmp_path, text)
    assert program.place("rate") == (5, 14, False)  # either could hold: the call's own place
    assert program.place("rate", value=0.9) == (4, 9, False)


LOOPS: dict[str, tuple[str, list[tuple[Any, tuple[int, int]]]]] = {
    "over a literal": ("for u in (64, 32):\n    Dense(u)", [(64, (1, 11)), (32, (1, 15))]),
    "over a constant": ("S = [64, 32]\nfor u in S:\n    Dense(u)", [(64, (1, 6)), (32, (1, 10))]),
    "over pairs": (
        'for a, u in [("elu", 8), ("relu", 4)]:\n    Dense(u)', [(8, (1, 22)), (4, (1, 35))],
    ),
    "enumerated": ("for i, u in enumerate([8, 4]):\n    Dense(u)", [(8, (1, 24)), (4, (1, 27))]),
    "zipped": ("for u, a in zip([8, 4], 'ab'):\n    Dense(u)", [(8, (1, 18)), (4, (1, 21))]),
    "equal elements": ("for u in (8, 8):\n    Dense(u)", [(8, (1, 5)), (8, (1, 5))]),
    "over a call": ("for u in range(3, 5):\n    Dense(u)", [(3, (1, 5)), (4, (1, 5))]),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_loops(tmp_path: Path, name: str) -> None:
    """The element that has the value, or the loop's own variable where that is not certain."""
    text, calls = LOOPS[name]
    program = Program(tmp_path, text)
    for number, (value, (line, column)) in enumerate(calls):
        found = program.place("units", number, callee="Dense", value=value)
        assert found == (line, column, False)


def test_data_is_not_followed(tmp_path: Path) -> None:
    """Arrays are shown where the call has them."""
    program = Program(tmp_path, "x = [1]\nmodel.fit(x, [2])")
    assert program.place("x", follow=False) == (2, 11, False)
    assert program.place("x") == (1, 5, False)


def test_the_loss_of_one_output(tmp_path: Path) -> None:
    """The loss of one output is its value in the dict."""
    text = 'LOSS = {"kind": "ce",\n        "size": "mse"}\nmodel.compile("adam", loss=LOSS)'
    program = Program(tmp_path, text)
    assert program.place("loss", within=("size",)) == (2, 17, False)


def test_the_layer_in_a_wrapper(tmp_path: Path) -> None:
    """The arguments of a wrapped layer are those of the call inside."""
    program = Program(tmp_path, 'L.Bidirectional(L.LSTM(3, activation="relu"))')
    assert program.place("activation", 1, through="layer") == (1, 38, False)
    assert program.place("units", 1, through="layer") == (1, 24, False)
    assert program.place("use_bias", 1, through="layer") == (1, 17, True)


def test_a_call_and_its_line(tmp_path: Path) -> None:
    """A site has the line and the column of the call, not of the statement."""
    program = Program(tmp_path, "x = 1\nif x:\n    model.add(Dense(\n        10))")
    site = program.lines.call(program.frames[0])
    assert site == {
        "file": "train.py", "line": 3, "column": 15, "text": "model.add(Dense(", "default": False,
    }  # fmt: skip


def test_the_only_call_of_a_name(tmp_path: Path) -> None:
    """A call is only found by its name where there is one of it."""
    text = (
        "def train_test_split(*a, **k): pass\nS = 0.9\ntrain_test_split(1, test_size=S)\nDense(1)"
    )
    program = Program(tmp_path, text)
    site = program.lines.only_call(program.frames[0], "train_test_split", "test_size")
    assert site is not None
    assert (site["line"], site["column"]) == (2, 5)
    assert program.lines.only_call(program.frames[0], "train_test_split", "shuffle") is None
    assert program.lines.only_call(program.frames[0], "Dense", "units") is None


@pytest.mark.parametrize(
    ("line", "callee", "column"),
    [(1, "Dense", 23), (2, "Dense", 24), (2, "Conv2D", None), (3, None, 18), (9, "Dense", None)],
)
def test_frames_without_columns(
    tmp_path: Path, line: int, callee: str | None, column: int | None
) -> None:
    """The one call of the line is meant, or the one to something of the right name."""
    file = tmp_path / "a.py"
    file.write_text(
        'L.Dense(10,activation="relu")\nx.add(Dense(activation="relu"))\nDense(activation="elu")\n',
        encoding="utf-8",
    )
    frames = [Frame(str(file), line)]
    site = SourceLines(str(tmp_path)).argument(frames, "activation", Hints(callee=callee))
    assert (None if site is None else site["column"]) == column
