"""Choose where the fingerprint of a model goes and where it is found.

What reads a format is loaded for a model of that format only, because every comparison asks
here whether a side is a model. CPython 3.9, standard library.
"""

from __future__ import annotations

import os
import stat
from typing import Any, Union

from envcheck.errors import InputError, OutputError
from envcheck.fingerprint.document import Fingerprint
from envcheck.fingerprint.reading import parse_fingerprint, read_fingerprint
from envcheck.records import record

__all__ = ["Carried", "carried_by", "embed", "extract", "hand_on", "is_model"]

PathLike = Union[str, "os.PathLike[str]"]
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_EMBED = "put one in with: envcheck embed MODEL train.json"
_KINDS = "a model is an ONNX file, a .keras archive, a SavedModel folder, or another model file"


@record
class Carried:
    """The bytes of a fingerprint and where they were found."""

    data: bytes
    place: str

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint. Raises InputError and SchemaError."""
        return parse_fingerprint(self.data, self.place)


def embed(model: PathLike, fingerprint: Fingerprint | PathLike, *, beside: bool = False) -> str:
    """Put a fingerprint into a model, in place of one that is there; return where it lies.

    It goes into ONNX files, Keras archives and SavedModel folders, and into a file
    `MODEL.envcheck.json` for every other format, or where `beside` asks for that. The model
    computes the same, and its content digest is the same.

    Raises InputError and OutputError.
    """
    path = os.fspath(model)
    if not isinstance(fingerprint, Fingerprint):
        fingerprint = read_fingerprint(os.fspath(fingerprint))
    from envcheck.artefacts.reading import Unreadable
    from envcheck.embedding import sidecar

    data = fingerprint.to_text().encode("ascii")
    carrier = _carrier(path)
    if beside or carrier is None:
        carrier = sidecar
    try:
        carrier.write(path, data)
    except Unreadable as problem:
        raise InputError(str(problem), place=path, hint=_beside(problem)) from problem
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"cannot be written: {reason}", place=path, hint="the model is as it was"
        ) from problem
    return sidecar.path_of(path) if carrier is sidecar else path


def _beside(problem: Exception) -> str:
    return "use --beside to write a file beside the model" if "2 GiB" in str(problem) else _KINDS


def extract(model: PathLike) -> Fingerprint:
    """Return the fingerprint that a model carries, else the one that lies beside it.

    Raises InputError and SchemaError.
    """
    path = os.fspath(model)
    found = carried_by(path)
    if found is None:
        raise InputError("carries no fingerprint, and none lies beside it", place=path, hint=_EMBED)
    return found.fingerprint()


def hand_on(source: PathLike, target: PathLike) -> bool:
    """Embed what one model carries into another made from it; return whether there was any."""
    found = carried_by(os.fspath(source))
    if found is None:
        return False
    embed(target, found.fingerprint())
    return True


def carried_by(path: str) -> Carried | None:
    """Return what a model carries, else what lies beside it. Raises InputError."""
    from envcheck.artefacts.reading import Unreadable, Unsure
    from envcheck.embedding import sidecar

    carrier = _carrier(path)
    try:
        data = carrier.read(path) if carrier is not None else None
    except (Unreadable, Unsure) as problem:
        raise InputError(str(problem), place=path, hint=_KINDS) from problem
    if data is not None:
        return Carried(data, path)
    data = sidecar.read(path)
    return None if data is None else Carried(data, sidecar.path_of(path))


def is_model(path: str) -> bool:
    """Return whether a path is a model that could carry a fingerprint, or has one beside it.

    A pipe is never opened: what is in it can be read once.
    """
    try:
        mode = os.stat(path).st_mode
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            return False
        if stat.S_ISREG(mode) and _begins_as_json(path):
            return False
        from envcheck.embedding import sidecar

        return _carrier(path) is not None or os.path.isfile(sidecar.path_of(path))
    except (OSError, ValueError):
        return False
    except InputError:  # a broken archive, say; its own reader tells more
        return path.lower().endswith((".onnx", ".keras"))


def _begins_as_json(path: str) -> bool:
    with open(path, "rb", buffering=0) as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def _is_saved_model(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "saved_model.pb"))


def _carrier(path: str) -> Any:
    """Return the module that embeds into this model, or None. Raises InputError."""
    from envcheck.artefacts.files import Place
    from envcheck.artefacts.reading import Unreadable, Unsure

    place = Place(path)
    try:
        if place.is_folder():
            return _folder_carrier(path)
        with place.open() as source:
            return _file_carrier(path, source)
    except (Unreadable, Unsure) as problem:
        raise InputError(str(problem), place=path, hint=_KINDS) from problem


def _folder_carrier(path: str) -> Any:
    if not _is_saved_model(path):
        return None
    from envcheck.embedding import saved_model_assets

    return saved_model_assets


def _file_carrier(path: str, source: Any) -> Any:
    if source.peek(0, 4) in _ZIP:
        return _archive_carrier(source)
    from envcheck.artefacts.onnx_model import looks_like_onnx

    if not (path.lower().endswith(".onnx") or looks_like_onnx(source)):
        return None
    from envcheck.embedding import onnx_metadata

    return onnx_metadata


def _archive_carrier(source: Any) -> Any:
    from envcheck.artefacts.archives import Archive
    from envcheck.artefacts.keras_archive import is_keras
    from envcheck.embedding import keras_entry

    return keras_entry if is_keras(Archive(source)) else None
