"""Tell the format of a model by its content, and read its facts."""

from __future__ import annotations

import os
from typing import Any

from envcheck.artefacts import hdf5, impostors, pickle_file, safetensors_file, tflite
from envcheck.artefacts.files import Place
from envcheck.artefacts.onnx_model import looks_like_onnx, read_onnx
from envcheck.artefacts.reading import Source, Unreadable, digest_ranges
from envcheck.artefacts.saved_model import is_saved_model, read_saved_model

__all__ = ["describe"]

_EXTENSIONS = {
    ".onnx": "onnx", ".keras": "keras", ".h5": "hdf5", ".hdf5": "hdf5", ".hdf": "hdf5",
    ".tflite": "tflite", ".pkl": "pickle", ".pickle": "pickle", ".p": "pickle",
    ".dill": "pickle", ".cloudpickle": "pickle", ".sav": "pickle", ".joblib": "joblib",
    ".safetensors": "safetensors", ".pt": "torch", ".pth": "torch",
}  # fmt: skip
"""What a file name promises. Names with other endings promise nothing."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_INTERCHANGEABLE = {
    "pickle": {"pickle", "joblib"}, "joblib": {"pickle", "joblib"},
    "torch": {"torch", "pickle"}, "keras": {"keras", "hdf5"}, "hdf5": {"hdf5", "keras"},
}  # fmt: skip
"""Formats that users do store, and libraries do load, under another one's ending."""


def describe(place: Place) -> dict[str, Any]:
    """Return the facts of the model at a place.

    Raises Unreadable where it cannot be what it says, Unsure where it may not be read.
    """
    try:
        folder = place.is_folder()
    except Unreadable:
        impostors.check_link(place.link_target())
        raise
    if folder:
        if not is_saved_model(place):
            raise Unreadable(
                "is a folder without saved_model.pb, so no SavedModel: name the model file in it"
            )
        return {"format": "savedmodel", **read_saved_model(place)}
    with place.open() as source:
        impostors.check_stand_in(source)
        promised = _promise(place)
        facts = _read(source, place, promised)
        _check_promise(promised, facts["format"])
        if "sha256" not in facts:
            facts["sha256"], _ = digest_ranges(source, [])
        return {**facts, "bytes": source.size}


def _promise(place: Place) -> str:
    return _EXTENSIONS.get(os.path.splitext(place.name)[1].lower(), "")


def _check_promise(promised: str, found: str) -> None:
    """Raise where a name promises a format and the content is of another one."""
    if promised and found not in _INTERCHANGEABLE.get(promised, {promised}):
        content = "of no format that is known" if found == "unknown" else found
        raise Unreadable(f"is named as {promised}, but its content is {content}")


def _read(source: Source, place: Place, promised: str) -> dict[str, Any]:
    """Return the facts under the format that the content shows."""
    if source.peek(0, 4) in _ZIP:
        return _read_archive(source, promised)
    if source.peek(0, 8) == hdf5.SIGNATURE:
        return {"format": "hdf5", **hdf5.read_hdf5(source)}
    if tflite.is_tflite(source):
        return {"format": "tflite", **tflite.read_tflite(source)}
    if promised == "safetensors" or (not promised and safetensors_file.is_safetensors(source)):
        return {"format": "safetensors", **safetensors_file.read_safetensors(source)}
    if promised == "onnx" or (not promised and looks_like_onnx(source)):
        return {"format": "onnx", **read_onnx(source, place)}
    if promised in ("pickle", "joblib") or (
        promised in ("", "torch")
        and (pickle_file.begins_as_pickle(source) or pickle_file.is_compressed_pickle(source))
    ):
        return _read_pickle(source, place, promised)
    return {"format": "unknown"}


def _read_pickle(source: Source, place: Place, promised: str) -> dict[str, Any]:
    """Return the facts of a pickle; bytes that only begin like one are of unknown format."""
    try:
        return pickle_file.read_pickle(source, os.path.splitext(place.name)[1].lower())
    except Unreadable:
        if promised:
            raise
        return {"format": "unknown"}


def _read_archive(source: Source, promised: str) -> dict[str, Any]:
    """Return the facts of a zip archive; `zipfile` is loaded for one only."""
    from envcheck.artefacts.archives import Archive
    from envcheck.artefacts.keras_archive import is_keras, read_keras
    from envcheck.artefacts.torch_archive import is_torch, read_torch

    try:
        archive = Archive(source)
    except Unreadable:
        if promised:
            raise
        return {"format": "unknown"}
    if is_keras(archive):
        return {"format": "keras", **read_keras(archive)}
    if is_torch(archive):
        return {"format": "torch", **read_torch(archive)}
    return {"format": "unknown", "unsafe_names": archive.unsafe_names}
