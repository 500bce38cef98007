"""The loss of the best constant prediction, from what is known of the targets.

It is the scale of a loss: 1 in units of it is what guessing gives, whatever the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["null_losses"]


def null_losses(
    data: Mapping[str, Any], losses: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return for each compiled loss its value for the best constant, in the loss's own unit.

    `floor` is what even the right answer would give, where targets are probabilities. Both are
    None where the targets or the loss do not allow it.
    """
    targets = list(data.get("targets") or ())
    found = []
    for index, loss in enumerate(losses):
        target = _target(loss.get("output"), index, targets, len(losses))
        value, kind, floor = (None, None, None)
        usable = not loss.get("custom") and loss.get("reduction") not in ("sum", None, "none")
        if target is not None and usable and not data.get("weighted"):
            value, kind, floor = _null(loss, target)
        found.append({"output": loss.get("output"), "value": value, "kind": kind, "floor": floor})
    return found


def _target(
    output: str | None, index: int, targets: list[Mapping[str, Any]], count: int
) -> Mapping[str, Any] | None:
    named = [target for target in targets if output is not None and target["name"] == output]
    if len(named) == 1:
        return named[0]
    return targets[index] if len(targets) == count and index < count else None


_Null = tuple[float | None, str | None, float | None]


def _null(loss: Mapping[str, Any], target: Mapping[str, Any]) -> _Null:
    name = loss["name"]
    if name == "crossentropy":
        name = _by_kind(target)
    if name == "sparse_categorical_crossentropy" and target["kind"] in ("class-ids", "binary"):
        return _entropy(target.get("class_counts")), "label-entropy", 0.0
    if name == "categorical_crossentropy" and target["kind"] in ("one-hot", "probabilities"):
        means = _smoothed(target.get("column_means"), loss.get("label_smoothing") or 0.0)
        floor = target.get("own_entropy") if not loss.get("label_smoothing") else None
        return _entropy(means), "label-entropy", floor
    if name == "binary_crossentropy":
        return _of_binary(loss, target)
    if name == "mean_squared_error":
        return target.get("variance"), "variance", 0.0
    if name == "mean_absolute_error":
        return target.get("median_deviation"), "median-deviation", 0.0
    return None, None, None


def _by_kind(target: Mapping[str, Any]) -> str:
    """Return which cross-entropy Keras takes for targets."""
    kinds = {
        "class-ids": "sparse_categorical_crossentropy", "one-hot": "categorical_crossentropy",
        "probabilities": "categorical_crossentropy", "binary": "binary_crossentropy",
    }  # fmt: skip
    return kinds.get(str(target["kind"]), "")


def _of_binary(loss: Mapping[str, Any], target: Mapping[str, Any]) -> _Null:
    means, low, high = target.get("column_means"), target.get("min"), target.get("max")
    if not means or low is None or high is None or low < 0 or high > 1:
        return None, None, None
    smoothing = loss.get("label_smoothing") or 0.0
    shares = [mean * (1 - smoothing) + 0.5 * smoothing for mean in means]
    values = [_binary_entropy(share) for share in shares]
    floor = target.get("own_entropy") if not smoothing else None
    return sum(values) / len(values), "prior-entropy", floor


def _smoothed(means: Sequence[float] | None, smoothing: float) -> list[float] | None:
    if not means:
        return None
    return [mean * (1 - smoothing) + smoothing / len(means) for mean in means]


def _entropy(weights: Sequence[float] | None) -> float | None:
    """Return the entropy, in nats, of classes with these weights."""
    total = sum(weights) if weights else 0
    if not weights or total <= 0:
        return None
    return -sum(w / total * math.log(w / total) for w in weights if w > 0)


def _binary_entropy(share: float) -> float:
    return sum(-p * math.log(p) for p in (share, 1 - share) if p > 0)
