"""Invent inputs for a Keras model, from a fixed seed, that exercise it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.conversion.inputs import Samples, Spec, require_specs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.conversion.arrays import Array

__all__ = ["BATCH", "SEED", "invent"]

SEED = 20261130
BATCH = 3
"""More than one sample: a single one hides faults of layout and of the batch axis."""
_FREE_SIZES = (24, 20, 16, 12)
"""Sizes of axes that the model leaves open: different, so that swapped axes show."""
_SKIPPED = {"Dropout", "Reshape", "Flatten", "Masking", "Identity", "Permute", "RepeatVector"}


@dataclass(frozen=True, kw_only=True)
class _Range:
    """What an input may hold: integers below `top`, numbers around `centre`, or words."""

    kind: str = "normal"
    top: int = 2
    centre: Any = 0.0
    spread: Any = 1.0
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "integers":
            return f"integers from 0 to {self.top - 1}"
        if self.kind == "words":
            return "words of its vocabulary"
        if self.kind == "pixels":
            return "numbers from 0 to 255"
        return "normally distributed numbers"


def invent(model: Any, specs: tuple[Spec, ...], form: str, batch: int = BATCH) -> Samples:
    """Return invented samples for a model; the note says what they are. Raises UsageError."""
    import numpy as np

    require_specs(specs)
    generator = np.random.default_rng(SEED)
    readers = _first_readers(model, len(specs))
    ranges = [_range(spec, readers[place]) for place, spec in enumerate(specs)]
    values = tuple(
        _draw(generator, spec, found, batch) for spec, found in zip(specs, ranges, strict=True)
    )
    told = "; ".join(
        f"{spec.name} = {found}, shape {value.shape}"
        for spec, found, value in zip(specs, ranges, values, strict=True)
    )
    return Samples(
        names=tuple(spec.name for spec in specs),
        values=values,
        form=form,
        origin="invented",
        note=f"no inputs given, so these were invented (seed {SEED}): {told}",
    )


def _first_readers(model: Any, count: int) -> list[list[Any]]:
    """Return, per input, the layers that read it first, looking through reshaping layers."""
    found: list[list[Any]] = [[] for _ in range(count)]
    functional = getattr(model, "_functional", None) or model
    inputs = getattr(functional, "inputs", None) or []
    places = {id(tensor): index for index, tensor in enumerate(_ordered(functional, inputs))}
    for layer, tensors, outputs in _edges(functional):
        for tensor in tensors:
            index = places.get(id(tensor))
            if index is not None and index < count:
                found[index] += _inner_readers(layer)
                if type(layer).__name__ in _SKIPPED:
                    places.update({id(output): index for output in outputs})
    return found


def _ordered(functional: Any, inputs: list[Any]) -> list[Any]:
    struct = getattr(functional, "_inputs_struct", None)
    if isinstance(struct, dict):
        return [struct[name] for name in sorted(struct)]
    return list(struct) if isinstance(struct, list | tuple) else list(inputs)


def _edges(functional: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Yield each operation of a functional model with the tensors that it reads and makes."""
    for depth in sorted(getattr(functional, "_nodes_by_depth", {}), reverse=True):
        for node in functional._nodes_by_depth[depth]:
            if not getattr(node, "is_input", False):
                arguments = getattr(node.arguments, "keras_tensors", [])
                yield node.operation, list(arguments), list(getattr(node, "outputs", []))


def _inner_readers(layer: Any) -> list[Any]:
    """Return the layers that read the first input of a nested model, else the layer itself."""
    inner = getattr(layer, "_functional", None) or layer
    if not hasattr(inner, "_nodes_by_depth"):
        wrapped = getattr(layer, "layer", None)
        return [layer] if wrapped is None else [layer, wrapped]
    return [layer, *(found for readers in _first_readers(inner, 1) for found in readers)]


def _range(spec: Spec, readers: list[Any]) -> _Range:
    import numpy as np

    tops = [top for layer in readers for top in _tops(layer)]
    for layer in readers:
        name = type(layer).__name__
        if name in ("StringLookup", "TextVectorization") and spec.dtype == "string":
            return _Range(kind="words", words=_vocabulary(layer))
        if name == "IntegerLookup":
            return _Range(kind="integers", top=12)
        if name == "Rescaling" and np.max(np.abs(layer.scale)) < 0.1:
            return _Range(kind="pixels")
        if name == "Normalization" and getattr(layer, "mean", None) is not None:
            mean, variance = np.asarray(layer.mean), np.asarray(layer.variance)
            return _Range(centre=mean.reshape(-1), spread=np.sqrt(variance).reshape(-1))
    if tops:
        return _Range(kind="integers", top=min(tops))
    if spec.dtype == "string":
        return _Range(kind="words", words=("a", "b", "c", "the", "of"))
    if np.dtype(spec.dtype).kind in "iub":
        return _Range(kind="integers", top=2)
    return _Range()


def _tops(layer: Any) -> list[int]:
    """Return the number of values that a layer which looks integers up can take."""
    if type(layer).__name__ not in ("Embedding", "CategoryEncoding", "ReversibleEmbedding"):
        return []
    found = [getattr(layer, name, None) for name in ("input_dim", "num_tokens")]
    return [top for top in found if isinstance(top, int)]


def _vocabulary(layer: Any) -> tuple[str, ...]:
    try:
        words = [str(word) for word in layer.get_vocabulary() if str(word).strip("[]")]
    except Exception:  # noqa: BLE001 - any state of the layer
        words = []
    return tuple(words[:50]) or ("a", "b", "c")


def _draw(generator: Any, spec: Spec, found: _Range, batch: int) -> Array:
    import numpy as np

    free = iter(_FREE_SIZES)
    shape = [
        size if size is not None else (batch if place == 0 else next(free, 8))
        for place, size in enumerate(spec.shape)
    ]
    if found.kind == "integers":
        return generator.integers(0, max(found.top, 1), shape).astype(spec.dtype)
    if found.kind == "words":
        return generator.choice(np.array(found.words, dtype=object), shape)
    if found.kind == "pixels":
        return generator.uniform(0, 255, shape).astype(spec.dtype)
    drawn = generator.standard_normal(shape)
    last = shape[-1] if shape else 1
    fits = np.size(found.centre) in (1, last)
    return (drawn * found.spread + found.centre if fits else drawn).astype(spec.dtype)
