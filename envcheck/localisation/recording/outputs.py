"""The outputs of a model: their names, and what activation their values went through last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["effective_activation", "output_names"]

_TRANSPARENT = frozenset({
    "Flatten", "Reshape", "Permute", "Dropout", "SpatialDropout1D", "SpatialDropout2D",
    "SpatialDropout3D", "Identity", "Squeeze", "ExpandDims", "Cropping1D", "Cropping2D",
    "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D", "ActivityRegularization",
    "GaussianDropout", "Transpose", "Cast",
})  # fmt: skip
"""Layers that leave values as they are, or leave values out."""


def effective_activation(path: str | None, layers: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the activation that shapes the values a layer gives, or None where it is not known.

    Layers that only move values, and a linear `Activation`, are looked through.
    """
    seen: set[str] = set()
    while path is not None and path not in seen:
        seen.add(path)
        layer = layers.get(path)
        if layer is None:
            return None
        activation = layer.get("activation")
        passes = layer["class"] in _TRANSPARENT and layer["module"] == "keras"
        if layer["class"] == "Activation" and activation == "linear":
            passes = True
        if not passes:
            return None if activation is None else str(activation)
        sources = list(layer.get("inputs") or [])
        path = sources[0] if len(sources) == 1 else None
    return None


def output_names(model: Any) -> list[str]:
    """Return the names of a model's outputs in Keras's order: the keys of a dict of outputs."""
    structure = getattr(model, "_outputs_struct", None)
    if isinstance(structure, dict):
        return sorted(map(str, structure))
    return [str(name) for name in getattr(model, "output_names", None) or ()]
