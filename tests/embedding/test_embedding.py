"""A fingerprint travels with its model and changes nothing of it."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

import envcheck
from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.embedding import onnx_metadata
from envcheck.embedding.carriers import hand_on
from envcheck.errors import InputError, OutputError
from envcheck.facts import ok
from envcheck.fingerprint import Fingerprint
from envcheck.fingerprint.files import SIZE_LIMIT
from tests.artefacts.hostile import field, onnx, varint

DATA = Path(__file__).parents[1] / "artefacts" / "data"
TRAIN = Fingerprint(
    {"os.system": ok("linux"), "package.numpy": ok({"version": "2.0.0"})}, {"role": "train"}
)
OTHER = Fingerprint({"os.system": ok("darwin")}, {"role": "train"})
INSIDE = ["plain.onnx", "converted.onnx", "external.onnx", "plain.keras", "compiled.keras",
          "keras2_saved", "exported"]  # fmt: skip
BESIDE = ["float.tflite", "latest.h5", "pipeline_p4.pkl", "weights.safetensors"]


def copied(name: str, folder: Path) -> Path:
    """Return a copy of a recorded model."""
    if (DATA / name).is_dir():
        return shutil.copytree(DATA / name, folder / name)
    return Path(shutil.copy(DATA / name, folder / name))


def facts(model: Path) -> dict[str, Any]:
    """Return what the model's own reader says, without the digest and size of the whole."""
    return {
        name: value
        for name, value in describe(Place(str(model))).items()
        if name not in ("sha256", "bytes")
    }


@pytest.mark.parametrize("name", INSIDE)
def test_it_goes_inside_and_changes_no_content(name: str, tmp_path: Path) -> None:
    """What is embedded is extracted again; every fact and the content digest stay."""
    model = copied(name, tmp_path)
    before = facts(model)
    place = envcheck.embed(model, TRAIN)

    assert place == str(model)
    assert not Path(f"{model}.envcheck.json").exists()
    assert envcheck.extract(model).facts == TRAIN.facts
    assert envcheck.extract(model).role == "train"
    assert facts(model) == before


@pytest.mark.parametrize("name", BESIDE)
def test_other_formats_get_a_file_beside_them(name: str, tmp_path: Path) -> None:
    """A format that carries nothing stays untouched, and the file beside it is found."""
    model = copied(name, tmp_path)
    before = model.read_bytes()
    place = envcheck.embed(model, TRAIN)

    assert place == f"{model}.envcheck.json"
    assert envcheck.extract(model).facts == TRAIN.facts
    assert model.read_bytes() == before


@pytest.mark.parametrize("name", [*INSIDE, *BESIDE])
def test_embedding_again_replaces(name: str, tmp_path: Path) -> None:
    """Embedding the same twice gives the same bytes, another fingerprint takes the place."""
    model = copied(name, tmp_path)
    envcheck.embed(model, TRAIN)
    once = envcheck.extract(model).text, describe(Place(str(model)))["sha256"]
    envcheck.embed(model, OTHER)
    assert envcheck.extract(model).facts == OTHER.facts

    envcheck.embed(model, TRAIN)
    assert (envcheck.extract(model).text, describe(Place(str(model)))["sha256"]) == once


def test_an_entry_in_the_middle_is_replaced(tmp_path: Path) -> None:
    """Another program may have added entries after ours; they stay, and the archive is sound."""
    model = copied("plain.keras", tmp_path)
    envcheck.embed(model, TRAIN)
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("assets/later.txt", "x" * 10_000, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(model) as archive:
        names = set(archive.namelist())

    envcheck.embed(model, OTHER)
    with zipfile.ZipFile(model) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == names
        assert len(archive.namelist()) == len(names)
        assert archive.read("assets/later.txt") == b"x" * 10_000
    assert envcheck.extract(model).facts == OTHER.facts


def test_entries_written_to_a_stream_stay_readable(tmp_path: Path) -> None:
    """Entries with a data descriptor behind them are copied with it."""
    model = copied("plain.keras", tmp_path)
    streamed = tmp_path / "streamed.keras"
    with zipfile.ZipFile(model) as old, streamed.open("wb") as raw:
        unseekable = _Pipe(raw)
        with zipfile.ZipFile(unseekable, "w") as new:  # type: ignore[call-overload]
            for entry in old.infolist():
                new.writestr(entry.filename, old.read(entry), zipfile.ZIP_DEFLATED)
    before = facts(streamed)

    envcheck.embed(streamed, TRAIN)
    envcheck.embed(streamed, OTHER)
    with zipfile.ZipFile(streamed) as archive:
        assert archive.testzip() is None
        assert all(entry.flag_bits & 8 for entry in archive.infolist()[:-1])
    assert facts(streamed) == before


class _Pipe:
    def __init__(self, stream: Any) -> None:
        self.write, self.flush = stream.write, stream.flush


def test_other_metadata_stays(tmp_path: Path) -> None:
    """The exporter's own metadata_props are kept, in order, before ours."""
    model = copied("plain_with_metadata.onnx", tmp_path)
    before = model.read_bytes()
    envcheck.embed(model, TRAIN)
    after = model.read_bytes()

    # What is recorded there was put in under our own key; a foreign one stays as it is.
    foreign = field(14, field(1, b"author") + field(2, b"somebody"))
    model.write_bytes(before + foreign)
    envcheck.embed(model, TRAIN)
    assert foreign in model.read_bytes()
    assert after.endswith(field(14, field(1, onnx_metadata.KEY) + field(2, _text(TRAIN))))


def _text(fingerprint: Fingerprint) -> bytes:
    return fingerprint.to_text().encode()


def test_the_file_keeps_mode_and_links(tmp_path: Path) -> None:
    """A link to a model stays a link; the mode of the file behind it stays."""
    model = copied("plain.onnx", tmp_path)
    model.chmod(0o640)
    link = tmp_path / "current.onnx"
    link.symlink_to(model)
    envcheck.embed(link, TRAIN)

    assert link.is_symlink()
    assert model.stat().st_mode & 0o777 == 0o640
    assert envcheck.extract(model).facts == TRAIN.facts


def test_a_failure_leaves_the_model_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails half-way the model is as it was and nothing is left behind."""
    model = copied("plain.onnx", tmp_path)
    before = model.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        envcheck.embed(model, TRAIN)
    assert model.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["plain.onnx"]


def test_it_is_handed_on_to_a_model_made_from_another(tmp_path: Path) -> None:
    """A sub-model cut out of a model gets its fingerprint; without one nothing happens."""
    source = copied("plain.onnx", tmp_path)
    part = copied("branches.onnx", tmp_path)
    assert not hand_on(source, part)

    envcheck.embed(source, TRAIN)
    assert hand_on(source, part)
    assert envcheck.extract(part).facts == TRAIN.facts


@pytest.mark.parametrize("name", ["plain.onnx", "plain.keras", "keras2_saved", "latest.h5"])
def test_a_model_stands_on_a_side(name: str, tmp_path: Path) -> None:
    """`compare` takes a model that carries a fingerprint, whatever its size or kind."""
    model = copied(name, tmp_path)
    envcheck.embed(model, TRAIN)
    report = envcheck.compare(model, TRAIN)

    assert report.inputs["train"]["role"] == "train"
    assert report.count("error") == 0


def test_a_model_without_one_is_told(tmp_path: Path) -> None:
    """The message says what to type."""
    model = copied("plain.onnx", tmp_path)

    with pytest.raises(InputError, match="carries no fingerprint") as caught:
        envcheck.compare(model, TRAIN)
    assert "envcheck embed MODEL" in caught.value.hint


RECORD = field(14, field(1, onnx_metadata.KEY) + field(2, _text(TRAIN)))
GRAPH = onnx(field(2, b"g"))
HOSTILE = {
    "two": (GRAPH + RECORD + RECORD, "carries 2 fingerprints"),
    "cut": (GRAPH + RECORD[:-40], "are left"),
    "endless": (GRAPH + varint(14 << 3 | 2) + varint(1 << 62), "are left"),
    "no_json": (GRAPH + field(14, field(1, onnx_metadata.KEY) + field(2, b"\xff\xfe{")), "UTF"),
    "no_value": (GRAPH + field(14, field(1, onnx_metadata.KEY)), "is empty"),
    "list": (GRAPH + field(14, field(1, onnx_metadata.KEY) + field(2, b"[" * 9999)), "."),
    "huge": (
        GRAPH + field(14, field(1, onnx_metadata.KEY) + field(2, b" " * (SIZE_LIMIT + 1))),
        "more than 32 MiB",
    ),
    "empty": (b"", "."),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_models_are_refused(name: str, tmp_path: Path) -> None:
    """Whatever stands where the fingerprint should be costs one message, no crash, no memory."""
    data, words = HOSTILE[name]
    model = tmp_path / "evil.onnx"
    model.write_bytes(data)

    with pytest.raises(InputError, match=words):
        envcheck.extract(model)


@pytest.mark.parametrize("data", [b"", b"\x08\x08", b"not a model at all", GRAPH[:-3]])
def test_what_is_no_model_is_not_written_to(data: bytes, tmp_path: Path) -> None:
    """Embedding into a file that only bears the name leaves it as it is."""
    model = tmp_path / "evil.onnx"
    model.write_bytes(data)

    with pytest.raises(InputError):
        envcheck.embed(model, TRAIN)
    assert model.read_bytes() == data
    assert len(list(tmp_path.iterdir())) == 1


def test_a_bomb_in_an_archive_is_refused(tmp_path: Path) -> None:
    """A `.keras` entry that unpacks to more than any fingerprint has is not unpacked."""
    model = copied("plain.keras", tmp_path)
    with zipfile.ZipFile(model, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("assets/envcheck/fingerprint.json", b" " * (SIZE_LIMIT + 1))

    with pytest.raises(InputError, match=r"larger than|bomb"):
        envcheck.extract(model)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """A named pipe on a side of a comparison is not opened to see whether it is a model."""
    pipe = tmp_path / "side"
    os.mkfifo(pipe)
    if os.fork() == 0:  # pragma: no cover
        try:
            pipe.write_text(TRAIN.to_text())
        finally:
            os._exit(0)

    assert envcheck.compare(pipe, TRAIN).count("error") == 0
    os.wait()
