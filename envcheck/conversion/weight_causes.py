"""Read a fault off the weights: which of the layer's own the candidate holds, and changed how."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import plain, relative_error
from envcheck.conversion.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envcheck.conversion.arrays import Array

__all__ = ["weight_causes"]

_EXACT = 1e-7
_CLOSE = 5e-7
_FEW = 0.1
"""Share of changed elements up to which they are listed."""
_NAMED = 5
_GATES = {"LSTM": ((0, 3, 1, 2), "i f c o", 4), "GRU": ((0, 1, 2), "z r h", 3)}
"""Blocks of the Keras weight in the order of ONNX, their names, and how many there are."""


def weight_causes(layers: Iterable[Any], held: Mapping[str, Array]) -> list[Cause]:
    """Return what was done to weights of some layers, given the candidate's in that segment.

    Weights that the candidate holds unchanged, up to the order of their axes, give no cause.
    """
    layers = list(layers)
    owned = [(layer, weight) for layer in layers for weight in _weights(layer)]
    innocent: set[str] = set()
    open_weights = []
    for layer, weight in owned:
        value = plain(weight.numpy())
        fitting = (n for n, w in held.items() if n not in innocent and _same(layer, value, w))
        name = next(fitting, "")
        if name:
            innocent.add(name)
        else:
            open_weights.append((layer, weight, value))
    left = {name: value for name, value in held.items() if name not in innocent}
    causes = (_cause(layer, weight, value, left, layers) for layer, weight, value in open_weights)
    return [cause for cause in causes if cause is not None]


def _weights(layer: Any) -> list[Any]:
    return [w for w in getattr(layer, "weights", ()) if str(w.dtype).startswith(("float", "bfl"))]


def _same(layer: Any, value: Array, seen: Array) -> bool:
    """Return whether the candidate holds a weight as its runtime expects it.

    The recurrent operators of ONNX, whose weights have an axis of directions in front, want the
    gates in another order than Keras; elsewhere the order of the axes is free.
    """
    if type(layer).__name__ == "LSTM" and value.ndim == 2 and seen.ndim == 3:
        expected = _reordered(value, _GATES["LSTM"][0])
        return seen.size == value.size and relative_error(seen, expected) <= _EXACT
    return any(relative_error(turned, seen) <= _EXACT for turned in _turned(value, seen))


def _turned(value: Array, seen: Array) -> list[Array]:
    """Return a weight in every order of its axes, shaped like the candidate's."""
    if value.size != seen.size or seen.dtype.kind not in "fiu":
        return []
    if value.ndim > 4 or value.size > 1 << 24:
        return [value.reshape(seen.shape)]
    found = []
    for axes in permutations(range(value.ndim)):
        sizes = [value.shape[axis] for axis in axes if value.shape[axis] != 1]
        if sizes == [size for size in seen.shape if size != 1] or seen.ndim != value.ndim:
            found.append(value.transpose(axes).reshape(seen.shape))
    return found


def _cause(
    layer: Any, weight: Any, value: Array, left: Mapping[str, Array], layers: list[Any]
) -> Cause | None:
    name = f"{layer.name}/{weight.path.rpartition('/')[2]}"
    gates = _gates(layer, name, value, left)
    if gates is not None:
        return gates
    options = [
        (relative_error(turned, seen), key, turned, seen)
        for key, seen in left.items()
        for turned in _turned(value, seen)
    ]
    if not options:
        return None
    epsilon = _expanded(layer, weight, value, left)
    if epsilon is not None:
        return epsilon
    for _, _, turned, seen in sorted(options, key=lambda option: option[0])[:4]:
        cause = _difference(name, turned, seen) or _folded(name, turned, seen, layers)
        if cause is not None:
            return cause
    error, key, turned, seen = min(options, key=lambda option: option[0])
    if turned.size >= 8 and error > 0.5 and len({o[1] for o in options}) == 1:
        return Cause(
            kind="weights-replaced", strength=1,
            text=f"weight {name} has no counterpart: {key} of its size differs throughout",
        )  # fmt: skip
    return None


def _difference(name: str, turned: Array, seen: Array) -> Cause | None:
    """Return rounding, scaling or single changed elements between a weight and its counterpart."""
    import numpy as np

    a, b = turned.astype(np.float64).ravel(), seen.astype(np.float64).ravel()
    for dtype, rounded in _roundings(turned).items():
        if np.array_equal(rounded.astype(np.float32).ravel(), seen.astype(np.float32).ravel()):
            return Cause(
                kind="weights-rounded", strength=3,
                text=f"weight {name} is stored as {dtype}: each element is its rounding",
            )  # fmt: skip
    if not b.any() and a.any():
        return Cause(kind="weights-zeroed", strength=3, text=f"weight {name} is all zeros")
    changed = np.flatnonzero(np.abs(a - b) > _CLOSE * np.maximum(np.abs(a), 1e-6 * np.abs(a).max()))
    if 0 < changed.size <= max(1, _FEW * a.size):
        places = [np.unravel_index(int(place), seen.shape) for place in changed[:_NAMED]]
        told = "; ".join(
            f"[{', '.join(str(int(axis)) for axis in place)}] is {seen[place]:.6g}"
            f" instead of {turned[place]:.6g}"
            for place in places
        )
        more = f" and {changed.size - _NAMED} more" if changed.size > _NAMED else ""
        return Cause(
            kind="weight-elements", strength=3,
            text=f"{changed.size} of {a.size} elements of weight {name} differ: {told}{more}",
        )  # fmt: skip
    factor = float(np.dot(a, b) / max(float(np.dot(a, a)), 1e-300))
    if a.size > 2 and np.linalg.norm(b - factor * a) <= 1e-5 * np.linalg.norm(b):
        return Cause(
            kind="weights-scaled", strength=3, text=f"weight {name} is multiplied by {factor:.6g}"
        )
    return None


def _roundings(value: Array) -> dict[str, Array]:
    import numpy as np

    with np.errstate(over="ignore"):
        half = value.astype(np.float16)
    bits = np.ascontiguousarray(value, dtype=np.float32).view(np.uint32)
    short = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    single = np.asarray(value, dtype=np.float32)
    found = {"float16": half, "bfloat16": short}
    return {
        name: rounded
        for name, rounded in found.items()
        if not np.array_equal(rounded.astype(np.float32), single)
    }


def _folded(name: str, turned: Array, seen: Array, layers: list[Any]) -> Cause | None:
    """Return a wrong epsilon in a batch normalisation that was folded into a kernel.

    The folded kernel is the kernel times s = gamma / sqrt(variance + epsilon) per channel, which
    is solved for epsilon.
    """
    import numpy as np

    norm = next((x for x in layers if type(x).__name__ == "BatchNormalization"), None)
    if norm is None or turned.ndim < 2:
        return None
    gamma = plain(norm.gamma.numpy()) if norm.gamma is not None else 1.0
    variance = plain(norm.moving_variance.numpy()).astype(np.float64)
    for axis in [axis for axis, size in enumerate(seen.shape) if size == variance.size]:
        a = np.moveaxis(turned, axis, 0).reshape(variance.size, -1).astype(np.float64)
        b = np.moveaxis(seen, axis, 0).reshape(variance.size, -1).astype(np.float64)
        factors = np.sum(a * b, axis=1) / np.maximum(np.sum(a * a, axis=1), 1e-300)
        if np.linalg.norm(b - factors[:, None] * a) > 1e-5 * np.linalg.norm(b):
            continue
        solved = (np.asarray(gamma, np.float64) / factors) ** 2 - variance
        middle, spread = float(np.median(solved)), float(np.std(solved))
        if spread < 1e-4 * max(1.0, float(np.max(variance))):
            if abs(middle - norm.epsilon) > max(1e-6, 10 * spread):
                return Cause(
                    kind="epsilon", strength=3,
                    text=f"{norm.name} was folded into {name} with epsilon {middle:.4g} instead of"
                    f" {norm.epsilon:.4g}",
                )  # fmt: skip
            return None
        return Cause(
            kind="channels",
            strength=2,
            text=f"{norm.name} was folded into {name} with other factors per channel",
        )
    return None


def _expanded(layer: Any, weight: Any, value: Array, left: Mapping[str, Array]) -> Cause | None:
    """Return a wrong epsilon in a batch normalisation that became a factor per channel."""
    import numpy as np

    if type(layer).__name__ != "BatchNormalization" or not weight.path.endswith("gamma"):
        return None
    variance = plain(layer.moving_variance.numpy()).astype(np.float64)
    for seen in left.values():
        if seen.size != value.size or not np.all(seen):
            continue
        solved = (value.astype(np.float64).ravel() / seen.astype(np.float64).ravel()) ** 2
        solved -= variance
        middle, spread = float(np.median(solved)), float(np.std(solved))
        if spread < 1e-4 and abs(middle - layer.epsilon) > max(1e-6, 10 * spread):
            return Cause(
                kind="epsilon",
                strength=3,
                text=f"{layer.name} is computed with epsilon {middle:.4g} instead of"
                f" {layer.epsilon:.4g}",
            )
    return None


def _gates(layer: Any, name: str, value: Array, left: Mapping[str, Array]) -> Cause | None:
    """Return a wrong order of the blocks of a recurrent weight."""
    kind = next((k for k in _GATES if type(layer).__name__ == k), "")
    if not kind or value.ndim != 2:
        return None
    order, words, count = _GATES[kind]
    expected = _reordered(value, order)
    for seen in left.values():
        if seen.size != value.size:
            continue
        if relative_error(seen.reshape(expected.shape), expected) <= _EXACT:
            continue
        for other in permutations(range(count)):
            turned = _reordered(value, other)
            if relative_error(seen.reshape(turned.shape), turned) <= _EXACT:
                letters = words.split()
                return Cause(
                    kind="gate-order", strength=3,
                    text=f"the gates of weight {name} stand in the order "
                    f"{' '.join(letters[i] for i in other)}, where the runtime expects "
                    f"{' '.join(letters[i] for i in order)}",
                )  # fmt: skip
    return None


def _reordered(value: Array, order: tuple[int, ...]) -> Array:
    """Return a Keras kernel (inputs, gates times units) as ONNX holds it, with gates in order."""
    import numpy as np

    blocks = np.split(value, len(order), axis=-1)
    return np.concatenate([blocks[i].T for i in order])
