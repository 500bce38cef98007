"""The kinds of faults that a comparison can tell apart, with what to do about each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ADVICE", "Cause"]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What was done to a layer. `kind` is a key of ADVICE, `text` a sentence with the numbers.

    `strength` orders causes: 3 for one computed from the weights or attributes themselves, 2 for
    one that the shape of the error shows, 1 for a hint.
    """

    kind: str
    text: str
    strength: int = 2


ADVICE: dict[str, str] = {
    "layer-absent": "Convert again and look for the operation in the exported graph; if the "
    "converter drops it, write it with other operations.",
    "activation-absent": "Convert again with the activation as a layer of its own, and compare.",
    "activation-replaced": "Write the activation with operations that the converter knows, or give "
    "its approximate form (for instance gelu with approximate=True) in the model itself.",
    "weight-elements": "Export the weights again: the file was changed or damaged after training.",
    "weights-rounded": "Keep this layer in float32: exclude it from the conversion to lower "
    "precision.",
    "weights-scaled": "Look for a rescaling that was folded into the weights twice, or not at all.",
    "weights-replaced": "The candidate comes from another training state: convert the reference "
    "again, and keep the digest of the weights beside both files.",
    "weights-zeroed": "Convert again: the weight reached the candidate as zeros.",
    "gate-order": "Reorder the blocks of the recurrent weights: Keras LSTM has i, f, c, o and ONNX "
    "has i, o, f, c; Keras GRU has z, r, h as ONNX has.",
    "epsilon": "Set the same epsilon on both sides and convert again.",
    "attribute": "Set the attribute in the model as the converter understands it, or correct it in "
    "the exported graph, and convert again.",
    "border": "Compare padding, strides and resizing mode: state the padding with an explicit "
    "ZeroPadding layer and padding='valid'.",
    "negative-side": "Compare slope and rounding for negative values (alpha of LeakyReLU, PReLU).",
    "clipping": "Look for a limit (ReLU6, clip) or an overflow of a narrower type.",
    "channels": "Compare weights and normalisation of the channels named.",
    "scale": "Look for a missing or doubled factor (Rescaling, attention scale, pooling divisor).",
    "offset": "Look for a missing or doubled bias.",
    "sign": "Look for swapped operands of a subtraction.",
    "reciprocal": "Look for swapped operands of a division.",
    "order": "Look for a missing or extra transposition before a Flatten, Reshape or Concatenate.",
    "direction": "Look for go_backwards or a reversal that one side lacks.",
    "non-finite": "Look for a logarithm, root or division at the edge of its domain, or an "
    "overflow of a narrower type.",
    "crash": "Replace the operation named by ones that the converter supports, and convert again.",
    "shape": "Look at how the shape is computed (Reshape, Flatten, sizes that are concatenated, a "
    "batch size fixed at export), and convert again with explicit sizes.",
    "type": "Look for a Cast that is missing or too many before what follows, and convert again.",
    "batch": "Look for an operation that mixes samples, or a batch size fixed at export.",
    "input-channels": "Feed the candidate images whose channels have the order of training "
    "(RGB or BGR), or add the reversal to the model.",
    "input-scale": "Put the rescaling of the inputs on one side only.",
    "input-layout": "Feed the candidate the axes in its own order.",
    "unknown": "Compare the layer alone with the reproduction that --repro writes.",
}
"""What to do, by kind of cause."""
