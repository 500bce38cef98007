"""Paths of the layers of a Keras model, and the variables that belong to each.

A layer of Keras's own, other than a model, is one unit whatever it holds inside: the cell of an
LSTM or the projections of an attention layer are built by Keras, not by the program. Models and
the program's own layers are open: what they hold is listed below them as `outer/inner`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Part", "is_container", "model_parts", "weight_names"]


@dataclass(frozen=True)
class Part:
    """A layer or a functional operation of a model.

    `reported` is false for a nested model whose output is that of its last layer.
    """

    path: str
    layer: Any
    reported: bool
    variables: tuple[Any, ...]


def model_parts(model: Any) -> list[Part]:
    """Return the parts of a model, outer before inner, each layer once, in the model's order.

    The model itself comes first with an empty path when it owns variables or is not wired by
    Keras; names that occur twice under one parent get `#2`, `#3` appended.
    """
    seen: set[int] = {id(model)}
    variables: set[int] = set()
    own = _fresh(_own_variables(model), variables)
    parts = [Part("", model, reported=False, variables=own)] if own else []
    parts += _walk(model, "", seen, variables)
    return parts


def is_container(layer: Any) -> bool:
    """Return whether a layer is a nested model whose wiring Keras knows."""
    import keras

    return isinstance(layer, keras.Sequential) or _is_functional(layer)


def weight_names(variables: tuple[Any, ...]) -> list[str]:
    """Return a name for each variable: the shortest end of its path that is unique."""
    paths = [str(getattr(v, "path", v.name)).split("/") for v in variables]
    names = []
    for index, parts in enumerate(paths):
        for length in range(1, len(parts) + 1):
            tail = parts[-length:]
            if sum(other[-length:] == tail for other in paths) == 1:
                names.append("/".join(tail))
                break
        else:
            names.append(f"{'/'.join(parts)}#{index}")
    return names


def _walk(owner: Any, prefix: str, seen: set[int], variables: set[int]) -> Iterator[Part]:
    taken: dict[str, int] = {}
    for layer in _children(owner):
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        name = str(getattr(layer, "name", type(layer).__name__))
        taken[name] = taken.get(name, 0) + 1
        unique = name if taken[name] == 1 else f"{name}#{taken[name]}"
        path = f"{prefix}/{unique}" if prefix else unique
        is_open = _is_open(layer)
        own = _own_variables(layer) if is_open else list(getattr(layer, "weights", ()))
        reported = not is_container(layer)
        yield Part(path, layer, reported=reported, variables=_fresh(own, variables))
        if is_open:
            yield from _walk(layer, path, seen, variables)


def _children(owner: Any) -> list[Any]:
    """Return what a container holds: operations of a wired model, else its tracked layers."""
    import keras

    if isinstance(owner, keras.Sequential):
        return list(owner.layers)
    if _is_functional(owner):
        wired = list(getattr(owner, "operations", ()))
        known = {id(operation) for operation in wired}
        return wired + [layer for layer in owner.layers if id(layer) not in known]
    return list(getattr(owner, "_layers", ()))


def _is_functional(layer: Any) -> bool:
    import keras

    return isinstance(layer, keras.Model) and hasattr(layer, "operations")


def _is_open(layer: Any) -> bool:
    import keras

    if isinstance(layer, keras.Model):
        return True
    ours = str(type(layer).__module__).split(".", 1)[0] == "keras"
    return not ours and bool(getattr(layer, "_layers", ()))


def _own_variables(layer: Any) -> list[Any]:
    found = [*getattr(layer, "_trainable_variables", ())]
    kept = [*getattr(layer, "_non_trainable_variables", ())]
    return found + [variable for variable in kept if not _is_seed(variable)]


def _is_seed(variable: Any) -> bool:
    return str(getattr(variable, "name", "")) == "seed_generator_state"


def _fresh(variables: list[Any], seen: set[int]) -> tuple[Any, ...]:
    fresh = [v for v in variables if id(v) not in seen and not _is_seed(v)]
    seen.update(id(v) for v in fresh)
    return tuple(fresh)
