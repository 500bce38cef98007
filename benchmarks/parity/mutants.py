"""Faults planted from seeds: in the Keras model before it is converted, or in the ONNX graph.

For a fault in the Keras model the edited layer is the truth: the edited model is converted, and
the original is compared with it. For a fault in the ONNX graph the truth is the layer in whose
name scope the edited node lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERAS_FAULTS", "Planted", "plant", "plant_in_graph"]


_REPLACED = {
    "relu": "linear", "tanh": "sigmoid", "silu": "relu", "elu": "relu", "hard_swish": "relu",
    "relu6": "relu",
}  # fmt: skip
"""Activations and what a fault puts in their place."""
_WEIGHTED = ("Conv", "MatMul", "Gemm", "LSTM", "ConvTranspose", "Gather")
_DROPPABLE = ("Relu", "LeakyRelu", "Clip", "Tanh", "Sigmoid", "Softmax", "Elu", "Selu", "Softplus")


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A fault: its kind, the path of the edited layer, and the model that carries it."""

    kind: str
    layer: str
    model: Any


def plant(model: Any, seed: int, *, count: int = 1) -> list[Planted] | None:
    """Return the model with `count` faults in different layers, or None where none can be made.

    The last entry carries the model with all of them.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    edits = _edits(model)
    places = sorted({layer for layer, _ in edits})
    if len(places) < count:
        return None
    chosen = generator.choice(np.array(places, dtype=object), count, replace=False)
    made: list[Planted] = []
    edited = model
    for layer in chosen:
        kinds = [kind for place, kind in edits if place == layer]
        kind = kinds[int(generator.integers(len(kinds)))]
        edited = KERAS_FAULTS[kind](edited, str(layer), generator)
        made.append(Planted(kind=kind, layer=str(layer), model=edited))
    return made


def _edits(model: Any) -> list[tuple[str, str]]:
    """Return every layer that can be edited, by path, with the kinds of faults it can carry."""
    return [(path, kind) for path, layer in _layers(model) for kind in _kinds(layer)]


def _kinds(layer: Any) -> list[str]:
    names = " ".join(weight.path.rpartition("/")[2] for weight in layer.weights)
    config, kind = layer.get_config(), type(layer).__name__
    has_kernel = "kernel" in names
    possible = {
        "element": has_kernel or "embeddings" in names,
        "scale": has_kernel or "embeddings" in names,
        "rounded": has_kernel or "embeddings" in names,
        "bias": "bias" in names,
        "gates": has_kernel and "LSTM" in kind,
        "activation": config.get("activation") in _REPLACED,
        "epsilon": isinstance(config.get("epsilon"), float) and bool(names),
        "negative_slope": isinstance(config.get("negative_slope"), float),
        "slope": kind == "ReLU",
        "order": kind == "Subtract",
    }
    return [name for name, holds in possible.items() if holds]


def _layers(model: Any, prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for layer in model.layers:
        path = f"{prefix}{layer.name}"
        if hasattr(layer, "layers") and type(layer).__name__ in ("Functional", "Sequential"):
            found += _layers(layer, f"{path}/")
        elif hasattr(layer, "forward_layer"):
            found += [(f"{path}/{inner.name}", inner)
                      for inner in (layer.forward_layer, layer.backward_layer)]  # fmt: skip
        else:
            found.append((path, layer))
    return found


def _clone(model: Any) -> Any:
    """Return a copy with the same names and weights."""
    copy = type(model).from_config(model.get_config())
    copy.set_weights(model.get_weights())
    return copy


def _find(model: Any, path: str) -> Any:
    return dict(_layers(model))[path]


def _weight(layer: Any, *words: str) -> Any:
    return next(
        w for w in layer.weights if any(word in w.path.rpartition("/")[2] for word in words)
    )


def _on_weight(words: tuple[str, ...], change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def fault(model: Any, path: str, generator: Any) -> Any:
        copy = _clone(model)
        weight = _weight(_find(copy, path), *words)
        weight.assign(change(weight.numpy(), generator))
        return copy

    return fault


def _element(value: Any, generator: Any) -> Any:
    changed = value.copy()
    place = int(generator.integers(value.size))
    changed.flat[place] += 3 * float(abs(value).max()) + 0.1
    return changed


def _rounded(value: Any, _: Any) -> Any:
    import numpy as np

    return value.astype(np.float16).astype(np.float32)


def _gates(value: Any, _: Any) -> Any:
    import numpy as np

    first, second, third, fourth = np.split(value, 4, axis=-1)
    return np.concatenate([first, third, second, fourth], axis=-1)


def _on_config(change: Callable[[dict[str, Any]], None]) -> Callable[..., Any]:
    """Return a fault that rebuilds the model with one layer's configuration changed."""

    def fault(model: Any, path: str, _: Any) -> Any:
        config = model.get_config()
        _edit(config, path.split("/"), change)
        copy = type(model).from_config(config)
        copy.set_weights(model.get_weights())
        return copy

    return fault


def _edit(
    config: dict[str, Any], parts: list[str], change: Callable[[dict[str, Any]], None]
) -> None:
    for item in config["layers"]:
        inner = item["config"]
        if inner.get("name") == parts[0]:
            if len(parts) == 1:
                change(inner)
            elif "layers" in inner:
                _edit(inner, parts[1:], change)
            else:
                for name in ("layer", "backward_layer"):
                    _edit_wrapped(inner.get(name), parts[1], change)


def _edit_wrapped(item: Any, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    if item and item["config"].get("name", "") in name:
        change(item["config"])


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda config: config.update(values)


def _swapped(model: Any, path: str, _: Any) -> Any:
    """Swap the operands of a layer that reads two tensors."""
    config = model.get_config()
    for item in config["layers"]:
        if item["config"].get("name") == path:
            first = item["inbound_nodes"][0]["args"][0]
            first.reverse()
    copy = type(model).from_config(config)
    copy.set_weights(model.get_weights())
    return copy


def _other_activation(config: dict[str, Any]) -> None:
    config["activation"] = _REPLACED[config["activation"]]


KERAS_FAULTS: dict[str, Callable[..., Any]] = {
    "element": _on_weight(("kernel", "embeddings"), _element),
    "scale": _on_weight(("kernel", "embeddings"), lambda value, _: value * 1.05),
    "rounded": _on_weight(("kernel", "embeddings"), _rounded),
    "bias": _on_weight(("bias",), lambda value, _: value * 0),
    "gates": _on_weight(("kernel",), _gates),
    "activation": _on_config(_other_activation),
    "epsilon": _on_config(lambda config: config.update(epsilon=config["epsilon"] * 30 + 0.01)),
    "negative_slope": _on_config(
        lambda config: config.update(negative_slope=config["negative_slope"] + 0.15)
    ),
    "slope": _on_config(_set(negative_slope=0.1)),
    "order": _swapped,
}


def plant_in_graph(path: str, target: str, seed: int) -> tuple[str, str] | None:
    """Edit one node of an ONNX file; return the kind of fault and the node's names, or None."""
    import numpy as np
    import onnx

    generator = np.random.default_rng(seed)
    model = onnx.load(path)
    graph = model.graph
    options = _graph_edits(graph)
    if not options:
        return None
    kind, number = options[int(generator.integers(len(options)))]
    node = graph.node[number]
    name = f"{node.name}|{node.output[0]}"
    if kind in _GRAPH_WEIGHTS:
        _change_weight(graph, node, _GRAPH_WEIGHTS[kind], generator)
    elif kind == "swapped":
        first, second = node.input[0], node.input[1]
        node.input[0], node.input[1] = second, first
    elif kind == "alpha":
        for attribute in node.attribute:
            if attribute.name == "alpha":
                attribute.f += 0.15
    elif kind == "layout":
        _turn(node)
    else:
        _drop(graph, number)
    onnx.save(model, target)
    return kind, name


_GRAPH_WEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "element": _element,
    "scale": lambda value, _: (value * 1.05).astype(value.dtype),
    "rounded": _rounded,
}


def _graph_edits(graph: Any) -> list[tuple[str, int]]:
    outputs = {item.name for item in graph.output}
    found = []
    for number, node in enumerate(graph.node):
        if node.op_type in _WEIGHTED and _weight_of(graph, node):
            found += [(kind, number) for kind in _GRAPH_WEIGHTS]
        if node.op_type in _DROPPABLE and node.output[0] not in outputs:
            found.append(("dropped", number))
        if node.op_type in ("Sub", "Div", "Concat") and len(node.input) >= 2:
            found.append(("swapped", number))
        if node.op_type == "LeakyRelu":
            found.append(("alpha", number))
        if node.op_type == "Transpose" and len(_order(node)) >= 3:
            found.append(("layout", number))
    return found


def _order(node: Any) -> list[int]:
    return next((list(item.ints) for item in node.attribute if item.name == "perm"), [])


def _turn(node: Any) -> None:
    """Swap the last two axes of what a transposition gives."""
    for attribute in node.attribute:
        if attribute.name == "perm":
            attribute.ints[-1], attribute.ints[-2] = attribute.ints[-2], attribute.ints[-1]


def _weight_of(graph: Any, node: Any) -> str:
    """Return the first float32 weight of four elements or more that a node reads."""
    import math

    held = {item.name: item for item in graph.initializer}
    return next(
        (name for name in node.input
         if name in held and held[name].data_type == 1 and math.prod(held[name].dims) >= 4), "",
    )  # fmt: skip


def _change_weight(graph: Any, node: Any, change: Any, generator: Any) -> None:
    from onnx import numpy_helper

    weight = _weight_of(graph, node)
    held = {item.name: item for item in graph.initializer}
    fresh = f"{weight}__mutant"
    value = change(numpy_helper.to_array(held[weight]), generator)
    graph.initializer.append(numpy_helper.from_array(value, fresh))
    for place, read in enumerate(node.input):
        if read == weight:
            node.input[place] = fresh


def _drop(graph: Any, number: int) -> None:
    node = graph.node[number]
    source, gone = node.input[0], node.output[0]
    for other in graph.node:
        for place, read in enumerate(other.input):
            if read == gone:
                other.input[place] = source
    del graph.node[number]
