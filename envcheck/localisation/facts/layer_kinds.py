"""What each kind of Keras layer does to a signal: linear map, non-linearity, or neither.

Only layers of Keras itself are known; every other class is opaque, and a walk that meets one
ends without a conclusion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "AUGMENTATIONS",
    "CONVOLUTIONS",
    "LINEAR",
    "NORMALISATIONS",
    "PREPROCESSING",
    "RECURRENT",
    "activation_of",
    "kind_of",
    "regularises",
]

_SIZES = ("1D", "2D", "3D")
CONVOLUTIONS = frozenset(
    f"{name}{size}{end}"
    for size in _SIZES
    for name in ("Conv", "SeparableConv", "DepthwiseConv", "Convolution")
    for end in ("", "Transpose")
)
LINEAR = CONVOLUTIONS | {"Dense", "EinsumDense"}
"""Layers that are a linear map with weights, before their activation."""
RECURRENT = frozenset((
    "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "StackedRNNCells", "ConvLSTM1D",
    "ConvLSTM2D", "ConvLSTM3D",
))  # fmt: skip
NORMALISATIONS = frozenset((
    "BatchNormalization", "Normalization", "LayerNormalization", "GroupNormalization",
    "UnitNormalization", "RMSNormalization", "InstanceNormalization", "SpectralNormalization",
))  # fmt: skip
"""Layers after which values have a common scale."""
PREPROCESSING = frozenset(("Rescaling", "Normalization", "Discretization", "Hashing",
                           "CategoryEncoding", "IntegerLookup", "StringLookup",
                           "TextVectorization", "HashedCrossing", "MelSpectrogram",
                           "FeatureSpace"))  # fmt: skip
AUGMENTATIONS = frozenset(("GaussianNoise", "GaussianDropout", "AlphaDropout", "CutMix", "MixUp",
                           "AutoContrast", "RandAugment", "AugMix", "Equalization",
                           "Solarization"))  # fmt: skip
_DROPOUTS = frozenset(("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
                       "AlphaDropout", "GaussianDropout"))  # fmt: skip
_TRANSPARENT = frozenset((
    "InputLayer", "BatchNormalization", "Flatten", "Reshape", "Permute", "RepeatVector",
    "ActivityRegularization", "Masking", "Identity", "Rescaling", "Normalization",
    "GaussianNoise", "Resizing", "CenterCrop",
    *(f"{name}{size}" for size in _SIZES
      for name in ("ZeroPadding", "Cropping", "UpSampling", "AveragePooling",
                   "GlobalAveragePooling", "AvgPool", "GlobalAvgPool")),
)) | _DROPOUTS  # fmt: skip
_MAXIMUM = frozenset(f"{name}{size}" for size in _SIZES
                     for name in ("MaxPooling", "MaxPool", "GlobalMaxPooling",
                                  "GlobalMaxPool"))  # fmt: skip
_ACTIVATIONS = frozenset(("Activation", "ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax",
                          "ThresholdedReLU"))  # fmt: skip
_NON_LINEAR = frozenset((
    "Multiply", "Maximum", "Minimum", "Dot", "Attention", "AdditiveAttention",
    "MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention", "LayerNormalization",
    "GroupNormalization", "UnitNormalization", "RMSNormalization",
)) | RECURRENT  # fmt: skip
_MERGES = frozenset(("Add", "Subtract", "Average", "Concatenate"))
_STARTS = frozenset(("Embedding",))
_OWN_NAMES = {"ReLU": "relu", "LeakyReLU": "leaky_relu", "PReLU": "prelu", "ELU": "elu",
              "Softmax": "softmax", "ThresholdedReLU": "relu"}  # fmt: skip


def activation_of(layer: Mapping[str, Any]) -> str | None:
    """Return the activation that a layer applies itself: its name, or None for none."""
    own = layer.get("activation")
    if own is None and layer.get("module") == "keras":
        own = _OWN_NAMES.get(str(layer.get("class")))
    return own if isinstance(own, str) else None


def kind_of(layer: Mapping[str, Any]) -> str:
    """Return what a layer does to a signal.

    One of linear (weights, no activation), active (weights and an activation), activation,
    transparent (keeps a linear map linear), maximum (a max-pool), merge, start (an embedding),
    other (anything else that is not linear) and opaque (not known).
    """
    name = str(layer.get("class"))
    if layer.get("module") != "keras":
        return "opaque"
    if name in LINEAR:
        return "linear" if activation_of(layer) in (None, "linear") else "active"
    if name in _ACTIVATIONS:
        return "transparent" if activation_of(layer) == "linear" else "activation"
    for kind, names in _KINDS:
        if name in names:
            return kind
    return "transparent" if name.startswith("Random") else "opaque"


_KINDS = (
    ("transparent", _TRANSPARENT),
    ("maximum", _MAXIMUM),
    ("merge", _MERGES),
    ("start", _STARTS),
    ("other", _NON_LINEAR),
)


def regularises(layer: Mapping[str, Any]) -> bool:
    """Tell whether a layer works against overfitting."""
    name = str(layer.get("class"))
    if name in _DROPOUTS or name in AUGMENTATIONS or name.startswith("Random"):
        return True
    keys = ("kernel_regulariser", "bias_regulariser", "activity_regulariser")
    return name == "BatchNormalization" or any(layer.get(key) for key in keys)
