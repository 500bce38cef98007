"""Models that were really carried between environments: what happened against what is said.

`measured/measure.py` notes what happened, without envcheck; benchmarks/measured_pairs.py judges.
"""

from __future__ import annotations

import pytest

from benchmarks.measured_pairs import FOLDER, RIGHT, Pair, pairs, report, verdict

_NUMPY = "the arrays of numpy 2 fail first; the classes that changed come right after"
DISAGREEMENTS: dict[tuple[str, str, str], str] = {
    ("sklearn-1.6", "sklearn-1.2", "tree"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.2", "forest"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.2", "histogram"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.2", "columns"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.2", "passthrough"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.3", "histogram"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.3", "columns"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.3", "passthrough"): _NUMPY,
    ("sklearn-1.6", "sklearn-1.4", "histogram"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.2", "tree"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.2", "forest"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.2", "histogram"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.2", "columns"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.2", "passthrough"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.3", "histogram"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.3", "columns"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.3", "passthrough"): _NUMPY,
    ("sklearn-1.7", "sklearn-1.4", "histogram"): _NUMPY,
    ("sklearn-1.7-py313", "sklearn-1.2", "forest"): _NUMPY,
    ("keras-3", "keras-2", "saved-model"): "a SavedModel of a newer TensorFlow happens to load",
    ("sklearn-1.7", "numpy-2.2", "logistic"): "joblib is missing too, beside every model library",
}
"""What envcheck gets wrong, by writer, reader and kind, and why; docs/benchmarks.md lists them."""
PAIRS = pairs()
BROKEN = [pair for pair in PAIRS if not pair.is_harmless]
HARMLESS = [pair for pair in PAIRS if pair.is_harmless]


def known(pair: Pair) -> str:
    """Return why a pair is judged otherwise than what happened; mostly empty."""
    return DISAGREEMENTS.get((pair.writer, pair.reader, pair.kind), "")


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_what_is_said_is_what_happened(pair: Pair) -> None:
    """A model that broke is an error with its cause first; one that did not is no error."""
    found = report(pair)
    how = verdict(pair, found)

    assert (how in RIGHT) != bool(known(pair)), (how, [item.title for item in found.findings[:3]])
    if how in RIGHT:
        assert found.verdict == ("conforms" if pair.is_harmless else "does_not_conform")


def test_there_are_enough_of_both() -> None:
    """The figures are about many environments, and about models that break as well as not."""
    assert len({(pair.writer, pair.reader) for pair in PAIRS}) >= 20
    assert len(BROKEN) >= 20
    assert len(HARMLESS) >= 20
    assert {pair.happened for pair in PAIRS} == {
        "exact", "close", "moved", "crash at load", "crash at prediction",
    }  # fmt: skip


def test_every_capture_is_used() -> None:
    """No captured environment lies about without a pair."""
    kept = {path.stem for path in (FOLDER / "environments").glob("*.json")}

    assert kept == {name for pair in PAIRS for name in (pair.writer, pair.reader)}


def test_every_disagreement_is_a_pair() -> None:
    """The list names nothing that is not there."""
    ends = {(pair.writer, pair.reader, pair.kind) for pair in PAIRS}

    assert DISAGREEMENTS.keys() <= ends
