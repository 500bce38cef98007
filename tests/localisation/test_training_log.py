"""Reading training logs: good ones, broken ones, hostile ones."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from envcheck.errors import InputError, SchemaError
from envcheck.localisation.analysing import analyse
from envcheck.localisation.training_log import parse_log, read_log

if TYPE_CHECKING:
    from pathlib import Path

_MINIMAL = {"schema": "envcheck.training/1", "recorded": True, "models": [], "fits": []}


def test_numbers_that_json_does_not_have() -> None:
    """NaN and infinities are words in the file and floats in memory; a name stays a text."""
    layer = {"path": "NaN", "name": "Infinity"}
    curves = {"batch": {"loss": ["NaN", "-Infinity", 1.5]}}
    models, fits = [{"id": "m0", "layers": [layer]}], [{"id": "f0", "curves": curves}]
    data = {**_MINIMAL, "models": models, "fits": fits}
    log = parse_log(json.dumps(data))
    losses = log.at("fits/0/curves/batch/loss")
    assert math.isnan(losses[0])
    assert losses[1:] == [-math.inf, 1.5]
    assert log.layer("m0", "NaN") == layer


def test_pointers() -> None:
    """A pointer leads into lists and objects, and nowhere gives None."""
    log = parse_log(json.dumps({**_MINIMAL, "fits": [{"id": "f0", "a/b": [1, 2]}]}))
    assert log.at("fits/0/a~1b/1") == 2
    assert log.at("fits/7/id") is None
    assert log.at("fits/0/id/deeper") is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "7", "{}", '{"schema": "envcheck.training/1", "fits": 3}',
        '{"schema": "envcheck.training/1", "fits": [3]}',
        '{"schema": "envcheck.training/1", "fits": [{}]}',
        '{"schema": "envcheck.training/1", "models": [{"id": "m0", "layers": [1]}]}',
        "[" * 200_000,
    ],
)  # fmt: skip
def test_no_training_log(text: str) -> None:
    """What is no training log is refused by one message with its place."""
    with pytest.raises(InputError) as caught:
        parse_log(text, place="run.json")
    assert str(caught.value).startswith("run.json: ")


def test_another_version() -> None:
    """A later major version is not read as if it were this one."""
    with pytest.raises(SchemaError):
        parse_log('{"schema": "envcheck.training/2"}')


def test_a_minor_version_is_read() -> None:
    """A minor version only adds."""
    assert parse_log('{"schema": "envcheck.training/1.4", "recorded": true}').recorded


def test_missing_file(tmp_path: Path) -> None:
    """The name of the file is in the message."""
    with pytest.raises(InputError, match=r"nowhere\.json"):
        read_log(tmp_path / "nowhere.json")


def test_nothing_recorded_is_no_pass() -> None:
    """A script without training gives a report in which nothing was checked."""
    data = {**_MINIMAL, "recorded": False, "reason": "the script never imported keras"}
    report = analyse(parse_log(json.dumps(data)))
    assert report.verdict == "undetermined"
    assert report.notes == ("the script never imported keras",)
