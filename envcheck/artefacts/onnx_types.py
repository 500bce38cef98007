"""Numbers and names of the ONNX format, from onnx.proto of onnx 1.23 and its operator lists."""

from __future__ import annotations

__all__ = [
    "ELEMENT_TYPES",
    "INT8_TYPES",
    "KNOWN_DOMAINS",
    "element_type",
    "is_quantised_operator",
]

ELEMENT_TYPES = (
    "undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string",
    "bool", "float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16",
    "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4",
    "float4e2m1", "float8e8m0", "uint2", "int2",
)  # fmt: skip
"""TensorProto.DataType by number."""

INT8_TYPES = frozenset({"int8", "uint8", "int4", "uint4", "int2", "uint2"})
"""Element types of quantised weights."""

KNOWN_DOMAINS = frozenset({
    "", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview", "ai.onnx.preview.training",
    "com.microsoft", "com.microsoft.experimental", "com.microsoft.nchwc", "com.ms.internal.nhwc",
    "com.microsoft.dml", "org.pytorch.aten",
})  # fmt: skip
"""Domains that the standard or ONNX Runtime itself defines."""

_QUANTISED = frozenset({
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger",
    "MatMulInteger", "MatMulInteger16", "MatMulIntegerToFloat", "DynamicQuantizeMatMul",
    "DynamicQuantizeLSTM", "ConvTransposeInteger", "QAttention", "QEmbedLayerNormalization",
    "QGemm", "QMoE", "QOrderedAttention", "QOrderedGelu", "QOrderedLayerNormalization",
    "QOrderedLongformerAttention", "QOrderedMatMul", "MatMulNBits", "MatMulBnb4",
    "MatMulFpQ4", "GatherBlockQuantized", "QuantizeBFP", "DequantizeBFP",
})  # fmt: skip


def element_type(number: int) -> str:
    """Return the name of an element type, or its number as text when it is not known."""
    return ELEMENT_TYPES[number] if number < len(ELEMENT_TYPES) else str(number)


def is_quantised_operator(name: str) -> bool:
    """Return whether an operator computes on, or converts from or to, quantised numbers."""
    return name in _QUANTISED or name.startswith("QLinear")
