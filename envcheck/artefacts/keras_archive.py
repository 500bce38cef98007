"""`.keras` archives: the writer's version and the configuration, never the weights."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.archives import Archive
from envcheck.artefacts.bounded_json import parse
from envcheck.artefacts.keras_config import read_config
from envcheck.artefacts.reading import Unreadable, clip

__all__ = ["EMBEDDED", "is_keras", "read_keras"]

EMBEDDED = "assets/envcheck/"
"""Entries below this name are envcheck's own; the content digest leaves them out."""
_LARGEST_CONFIG = 8 << 20
_LARGEST_METADATA = 1 << 20
_WEIGHTS = ("model.weights.h5", "model.weights.npz", "model.weights.json")


def is_keras(archive: Archive) -> bool:
    """Return whether an archive has the entries of a Keras model."""
    return "config.json" in archive.names and "metadata.json" in archive.names


def read_keras(archive: Archive) -> dict[str, Any]:
    """Return the facts of a Keras archive."""
    names = archive.names
    config = parse(archive.read("config.json", _LARGEST_CONFIG), "its config.json")
    metadata = parse(archive.read("metadata.json", _LARGEST_METADATA), "its metadata.json")
    if not isinstance(config, dict) or not isinstance(metadata, dict):
        raise Unreadable("its config.json or metadata.json is no JSON object")
    version = metadata.get("keras_version")
    out: dict[str, Any] = {
        "compiled": bool(config.get("compile_config")),
        "weights": sorted(name for name in names if name.startswith(_WEIGHTS)),
        "unsafe_names": archive.unsafe_names,
        "content_sha256": archive.content_digest(lambda name: name.startswith(EMBEDDED)),
    }
    if isinstance(version, str):
        out["keras_version"] = clip(version)
    else:
        out["unread"] = [{"field": "keras_version", "reason": "metadata.json does not name it"}]
    model = read_config(config)
    return {**out, **model.facts(), "imports": sorted({"keras", *model.modules})}
