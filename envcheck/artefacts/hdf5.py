"""Legacy `.h5` models: the attributes of the root group, read without h5py.

The HDF5 library is neither needed nor wanted here: it is large, and a hostile file can crash
it. Structures are those of the HDF5 File Format Specification, version 3.0. What lies in
places that Keras never uses (dense attribute storage, shared messages) is named in `unread`.
"""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.bounded_json import parse
from envcheck.artefacts.hdf5_attributes import Attributes, Superblock
from envcheck.artefacts.keras_config import read_config
from envcheck.artefacts.reading import Source, Truncated, clip

__all__ = ["SIGNATURE", "read_hdf5"]

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LARGEST_CONFIG = 8 << 20
_FROM_KERAS = ("keras_version", "backend", "model_config", "training_config", "layer_names")


def read_hdf5(source: Source) -> dict[str, Any]:
    """Return the facts of an HDF5 file, which may or may not be a Keras model."""
    block = Superblock(source)
    if block.end_of_file > source.size:
        raise Truncated(
            f"the file is truncated: {block.end_of_file} bytes announced, {source.size} there"
        )
    attributes = Attributes(block)
    if attributes.unread:
        names = ("keras_version", "backend", "layers", "custom_objects", "holds_code", "imports")
        return {"unread": [{"field": name, "reason": attributes.unread} for name in names]}
    if not any(name in attributes.places for name in _FROM_KERAS):
        return {"imports": []}
    return _keras(attributes)


def _keras(attributes: Attributes) -> dict[str, Any]:
    out: dict[str, Any] = {
        "compiled": "training_config" in attributes.places,
        "weights_only": "model_config" not in attributes.places,
        "imports": ["keras"],
        "holds_code": False,
    }
    unread = []
    for name in ("keras_version", "backend"):
        text = attributes.text(name, 1 << 10)
        if text is None:
            unread.append({"field": name, "reason": "the file has no such attribute"})
        else:
            out[name] = clip(text.decode("utf-8", "replace"))
    if not out["weights_only"]:
        config = attributes.text("model_config", _LARGEST_CONFIG)
        if config is None:
            reason = "model_config is stored in a way that Keras does not use"
            out.pop("holds_code")
            unread.append({"field": "layers", "reason": reason})
        else:
            model = read_config(parse(config, "its model_config"))
            out.update(model.facts(), imports=sorted({"keras", *model.modules}))
    return {**out, "unread": unread} if unread else out
