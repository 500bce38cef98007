"""Embedding after each save: what a recorder calls while a model trains."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import envcheck
from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.embedding.saving import Embedder
from tests.embedding.test_embedding import DATA, OTHER, TRAIN, copied


def test_every_save_carries_it(tmp_path: Path) -> None:
    """A file that is saved anew each epoch carries the fingerprint after each, once."""
    model = tmp_path / "checkpoint.keras"
    embedder = Embedder(TRAIN)
    for source in ("plain.keras", "compiled.keras", "plain.keras"):
        shutil.copy(DATA / source, model)
        content = describe(Place(str(model)))["content_sha256"]
        saved = embedder.after_save(model)

        assert (saved.place, saved.problem) == (str(model), "")
        assert envcheck.extract(model).facts == TRAIN.facts
        assert describe(Place(str(model)))["content_sha256"] == content
    assert list(embedder.saved) == [str(model)]


def test_a_second_call_changes_nothing(tmp_path: Path) -> None:
    """Two callbacks that both see one save leave the same bytes as one."""
    model = copied("plain.keras", tmp_path)
    Embedder(OTHER).after_save(model)
    Embedder(TRAIN).after_save(model)
    once = model.read_bytes()
    Embedder(TRAIN).after_save(model)

    assert model.read_bytes() == once
    assert envcheck.extract(model).facts == TRAIN.facts


@pytest.mark.parametrize("name", ["exported", "latest.h5", "plain.onnx"])
def test_whatever_is_saved(name: str, tmp_path: Path) -> None:
    """A folder and an ONNX file carry it, a format that cannot has it beside it."""
    model = copied(name, tmp_path)
    place = Embedder(TRAIN).after_save(model).place

    assert place == (f"{model}.envcheck.json" if name.endswith(".h5") else str(model))
    assert envcheck.extract(model).facts == TRAIN.facts


def test_training_goes_on(tmp_path: Path) -> None:
    """A path that is elsewhere, missing, broken or impossible is a problem that is told."""
    broken = tmp_path / "broken.keras"
    broken.write_bytes(b"PK\x03\x04 and no more")
    before = broken.read_bytes()
    embedder = Embedder(TRAIN)
    for path in ("gs://bucket/model.keras", tmp_path / "none.keras", broken, "a\0b"):
        saved = embedder.after_save(path)
        assert saved.place == ""
        assert saved.problem
    assert broken.read_bytes() == before
    assert len(embedder.saved) == 4
