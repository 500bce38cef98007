"""Files that stand where a model should be give a reason that says what to do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.artefacts.reading import Unreadable
from tests.artefacts.test_recorded import DATA

if TYPE_CHECKING:
    from pathlib import Path

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 132735\n"
ANNEX = b"/annex/objects/SHA256E-s123--abc.onnx\n"
STAND_INS = {
    "empty": (b"", "is empty"),
    "lfs": (LFS, "is a Git LFS pointer to a file of 132735 bytes, not the file: run git lfs pull"),
    "annex": (ANNEX, "is a git-annex pointer, not the file: run git annex get"),
    "page": (b"\n<!DOCTYPE html>\n<html><body>404", "is an HTML page"),
    "page with a mark": (b"\xef\xbb\xbf<!-- x --><HTML>", "is an HTML page"),
    "store": (b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code>', "is an XML error"),
}


@pytest.mark.parametrize("extension", [".onnx", ".keras", ".h5", ".pkl", ".tflite", ".pt", ""])
@pytest.mark.parametrize("name", sorted(STAND_INS))
def test_stand_in(name: str, extension: str, tmp_path: Path) -> None:
    """A stand-in is recognised whatever it is called."""
    content, reason = STAND_INS[name]
    path = tmp_path / f"model{extension}"
    path.write_bytes(content)

    with pytest.raises(Unreadable, match=reason):
        describe(Place(str(path)))


def test_a_link_of_git_annex(tmp_path: Path) -> None:
    """A link to annexed content that is not here says so."""
    path = tmp_path / "model.onnx"
    path.symlink_to(".git/annex/objects/zz/99/SHA256E-s1--a/SHA256E-s1--a")

    with pytest.raises(Unreadable, match="run git annex get"):
        describe(Place(str(path)))


@pytest.mark.parametrize(
    ("stored", "name", "reason"),
    [
        ("plain.onnx", "model.keras", "is named as keras, but its content is of no format"),
        ("plain.keras", "model.onnx", "is named as onnx, but its content is keras"),
        ("float.tflite", "model.h5", "is named as hdf5, but its content is tflite"),
        ("keras2.h5", "model.pkl", "is named as pickle, but its content is hdf5"),
    ],
)
def test_a_name_that_promises_something_else(
    stored: str, name: str, reason: str, tmp_path: Path
) -> None:
    """Content of another format than the name promises is an error."""
    path = tmp_path / name
    path.write_bytes((DATA / stored).read_bytes())

    with pytest.raises(Unreadable, match=reason):
        describe(Place(str(path)))


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("plain.onnx", "onnx"), ("plain.keras", "keras"), ("keras2.h5", "hdf5"),
        ("float.tflite", "tflite"), ("pipeline_p5.pkl", "pickle"), ("forest_xz.joblib", "joblib"),
        ("weights.safetensors", "safetensors"), ("external.weights", "unknown"),
        ("expected.json", "unknown"),
    ],
)  # fmt: skip
def test_content_decides_where_the_name_promises_nothing(
    stored: str, found: str, tmp_path: Path
) -> None:
    """A file without a telling name is of the format that its content shows."""
    path = tmp_path / "model"
    path.write_bytes((DATA / stored).read_bytes())

    assert describe(Place(str(path)))["format"] == found


def test_a_folder_without_a_graph(tmp_path: Path) -> None:
    """A folder that is no SavedModel is an error."""
    with pytest.raises(Unreadable, match=r"folder without saved_model\.pb"):
        describe(Place(str(tmp_path)))


CUT_AT = {
    "branches.onnx": 1, "plain.keras": 97, "keras2.h5": 61, "latest.h5": 61, "pipeline_p0.pkl": 7,
    "pipeline_p5.pkl": 7, "code.cloudpickle": 7, "forest.joblib": 13, "forest_zlib.joblib": 7,
    "forest_gzip.joblib": 7, "forest_bz2.joblib": 7, "forest_xz.joblib": 7, "objects.joblib": 7,
    "weights.safetensors": 1, "float.tflite": 13, "int8.tflite": 17,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CUT_AT))
def test_truncated(name: str, tmp_path: Path) -> None:
    """A file that is cut off anywhere, its last byte included, is an error."""
    data = (DATA / name).read_bytes()
    path = tmp_path / name
    passed = []
    for end in [*range(0, len(data), CUT_AT[name]), *range(len(data) - 8, len(data))]:
        path.write_bytes(data[:end])
        try:
            describe(Place(str(path)))
        except Unreadable:
            continue
        passed.append(end)

    assert passed == []


def test_variables_of_a_savedmodel(tmp_path: Path) -> None:
    """A shard of the variables that is missing is named."""
    folder = tmp_path / "exported"
    shutil.copytree(DATA / "exported", folder)
    (folder / "variables/variables.data-00000-of-00001").unlink()

    facts = describe(Place(str(folder)))

    assert facts["missing_files"] == ["variables/variables.data-00000-of-00001"]
