"""The log is written whole, and as JSON that every reader takes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.session import Outlet, Session
from envcheck.localisation.recording.writing import LogFile, log_text
from envcheck.localisation.training_log import parse_log

if TYPE_CHECKING:
    from pathlib import Path


def _refuse(word: str) -> Any:
    raise AssertionError(word)


def test_numbers_that_json_lacks_are_words() -> None:
    """NaN and infinities are words in the file, and floats again for who reads the log."""
    document = {
        "schema": "envcheck.training/1", "program": {"a": math.nan, "b": [math.inf, -math.inf]},
    }  # fmt: skip

    text = log_text(document)

    assert json.loads(text, parse_constant=_refuse)["program"] == {
        "a": "NaN", "b": ["Infinity", "-Infinity"],
    }  # fmt: skip
    revived = parse_log(text).program
    assert math.isnan(revived["a"])
    assert revived["b"] == [math.inf, -math.inf]


def test_nothing_but_the_log_is_left(tmp_path: Path) -> None:
    """The file is replaced as a whole; no temporary file stays behind."""
    path = tmp_path / "training.json"
    log = LogFile(str(path))

    log.write({"schema": "envcheck.training/1"})
    assert not log.is_due()
    log.write({"schema": "envcheck.training/1", "more": (1, {2})})

    assert json.loads(path.read_text())["more"] == [1, [2]]
    assert [item.name for item in tmp_path.iterdir()] == ["training.json"]


def test_a_session_survives_everything(tmp_path: Path) -> None:
    """What fails while recording is noted with its reason, and a full disk does no harm."""
    session = Session("train.py", 0.0)
    empty: dict[str, int] = {}
    session.outlets.append(Outlet(str(tmp_path / "no" / "folder" / "log.json"), everything=True))

    assert session.guard("fits/f0", lambda: empty["x"]) is None
    session.write()

    places = [problem["place"] for problem in session.document()["problems"]]
    assert places == ["fits/f0", "log"]
    assert session.document()["problems"][0]["reason"] == "KeyError: 'x'"
    assert session.document()["reason"] == "the program did not import Keras"
