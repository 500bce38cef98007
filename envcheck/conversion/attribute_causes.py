"""Read a fault off the candidate's operators: attributes other than the layer implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import plain, relative_error
from envcheck.conversion.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envcheck.conversion.arrays import Array

__all__ = ["activation_cause", "attribute_causes"]

_SLOPES = {"LeakyRelu": ("alpha", "negative_slope", 0.01), "Elu": ("alpha", "alpha", 1.0)}
"""ONNX operator: its attribute, the attribute of the layer, and the default in ONNX."""


def attribute_causes(
    layers: Iterable[Any], nodes: Iterable[Any], scalars: Mapping[str, float]
) -> list[Cause]:
    """Return the attributes of a segment's nodes that contradict the layers."""
    layers, nodes = list(layers), list(nodes)
    found = []
    for layer in layers:
        found += [cause for node in nodes for cause in _of_node(layer, node)]
        epsilon = _epsilon(layer, nodes, scalars)
        if epsilon is not None:
            found.append(epsilon)
    return found


def _of_node(layer: Any, node: Any) -> list[Cause]:
    import onnx

    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    found = []
    if node.op_type in _SLOPES:
        name, own, default = _SLOPES[node.op_type]
        wanted, seen = getattr(layer, own, None), attributes.get(name, default)
        if isinstance(wanted, float | int) and abs(float(wanted) - float(seen)) > 1e-6:
            found.append(_told(layer, node, own, seen, wanted))
    if node.op_type in ("Conv", "ConvTranspose"):
        for name, own in (("strides", "strides"), ("dilations", "dilation_rate")):
            wanted = [int(size) for size in getattr(layer, own, ())]
            seen = [int(size) for size in attributes.get(name, ())]
            if wanted and seen and len(wanted) == len(seen) and wanted != seen:
                found.append(_told(layer, node, own, seen, wanted))
        groups = getattr(layer, "groups", None)
        if isinstance(groups, int) and attributes.get("group", 1) != groups and groups != 1:
            found.append(_told(layer, node, "groups", attributes.get("group", 1), groups))
    return found


def _told(layer: Any, node: Any, name: str, seen: Any, wanted: Any) -> Cause:
    value = f"{seen:.6g}" if isinstance(seen, float) else str(seen)
    return Cause(
        kind="attribute", strength=3,
        text=f"{name} of {layer.name} is {value} in node {node.name or node.op_type}"
        f" instead of {wanted}",
    )  # fmt: skip


def _epsilon(layer: Any, nodes: list[Any], scalars: Mapping[str, float]) -> Cause | None:
    """Return a small constant added in a normalisation that is not the layer's epsilon."""
    wanted = getattr(layer, "epsilon", None)
    if not isinstance(wanted, float) or "Normalization" not in type(layer).__name__:
        return None
    seen = [a.f for node in nodes for a in node.attribute if a.name == "epsilon"]
    for node in nodes:
        if node.op_type == "Add":
            seen += [scalars[name] for name in node.input if name in scalars]
    small = [value for value in seen if 0 < value < 1]
    if small and all(abs(value - wanted) > 1e-3 * wanted for value in small):
        return Cause(
            kind="epsilon", strength=3,
            text=f"{layer.name} is computed with epsilon {small[0]:.4g} instead of {wanted:.4g}",
        )  # fmt: skip
    return None


def activation_cause(
    layer: Any, seen: Array, wanted: Array, inner: Mapping[str, Array], ops: Mapping[str, str]
) -> Cause | None:
    """Return that a layer's activation is missing or another one, where values show it.

    `inner` holds values of the segment in the reference's shape, `ops` the operator that reads
    each of them last.
    """
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", str(activation))
    if activation is None or name == "linear":
        return None
    if relative_error(_apply(activation, seen), wanted) <= 1e-4:
        return Cause(
            kind="activation-absent", strength=3,
            text=f"the activation {name} of {layer.name} is missing: applied to the candidate's"
            " value, it gives the reference's",
        )  # fmt: skip
    for tensor, value in inner.items():
        if relative_error(_apply(activation, value), wanted) <= 1e-4:
            return Cause(
                kind="activation-replaced", strength=3,
                text=f"the activation of {layer.name} is not {name} but what {ops[tensor]} makes of"
                " the same values",
            )  # fmt: skip
    return None


def _apply(activation: Any, value: Array) -> Array:
    return plain(activation(value.astype("float32")))
