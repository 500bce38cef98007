"""Known ways around operators that the converter or the runtime lacks."""

from __future__ import annotations

__all__ = ["workaround"]

_BY_OPERATOR = {
    "Erfc": "TensorFlow computes exact GELU with Erfc; use keras.activations.gelu with "
    "approximate=True, or build GELU from tf.math.erf.",
    "ImageProjectiveTransformV3": "Convert the inference function (training=False): augmentation "
    "does nothing at inference.",
    "StatelessRandomUniformV2": "Convert the inference function (training=False): augmentation "
    "does nothing at inference.",
    "HashTableV2": "Look words up before the model: tables have no ONNX form here.",
    "LookupTableFindV2": "Look words up before the model: tables have no ONNX form here.",
    "Bucketize": "Discretise before the model, or with comparisons and a sum.",
    "RFFT": "Compute the spectrogram before the model.",
    "ResizeBicubic": "Resize with bilinear interpolation, or before the model.",
    "ScaleAndTranslate": "Resize with bilinear interpolation and without antialiasing.",
    "Log1p": "Write log(1 + x).",
    "Cumprod": "Write exp(cumsum(log(x))) where x is positive.",
    "StatefulPartitionedCall": "Keras compiles this layer (grouped convolution) with XLA; run with "
    "keras.config.disable_jit or split the groups into convolutions.",
}
_BY_WORDS = {
    "never called": "Call the model once before exporting, or pass an input signature.",
    "keras_tensor": "Convert a tf.function of model(x, training=False) with from_function.",
    "cannot be saved": "Convert a tf.function of model(x, training=False) with from_function.",
    "not built": "Call the model on samples first: give them with --inputs.",
    "memory limit": "Convert on a machine with more memory, or give the file as CANDIDATE.",
    "time limit": "Convert by hand and give the file as CANDIDATE.",
}


def workaround(operator: str, text: str = "") -> str:
    """Return what to do about an operator or a message, or nothing when nothing is known."""
    if operator in _BY_OPERATOR:
        return _BY_OPERATOR[operator]
    for name, advice in _BY_OPERATOR.items():
        if name in text:
            return advice
    return next((advice for words, advice in _BY_WORDS.items() if words in text), "")
