"""How labels and loss fit each other: the numeric part of the question, as one word each.

The forms follow what Keras 3 does with a target: categorical losses compare it with the output
unit by unit, sparse ones take it as the number of a unit, binary ones as a share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BINARY", "CATEGORICAL", "REGRESSION", "SPARSE", "canonical", "misfits"]

_ALIASES = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape":
    "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error",
    "bce": "binary_crossentropy", "kld": "kl_divergence", "kullback_leibler_divergence":
    "kl_divergence", "huber_loss": "huber", "logcosh": "log_cosh",
}  # fmt: skip
CATEGORICAL = frozenset(("categorical_crossentropy", "categorical_focal_crossentropy"))
SPARSE = frozenset(("sparse_categorical_crossentropy",))
BINARY = frozenset(("binary_crossentropy", "binary_focal_crossentropy"))
REGRESSION = frozenset(("mean_squared_error", "mean_absolute_error", "huber", "log_cosh",
                        "mean_absolute_percentage_error",
                        "mean_squared_logarithmic_error"))  # fmt: skip
_SLACK = 0.01
"""How far beyond a bound a target may lie before it counts: rounding of resized images."""
_BEYOND = 0.1
"""Share of the span of regression targets that has to lie out of reach of an output."""
_BOUNDS = {"sigmoid": (0.0, 1.0), "hard_sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0),
           "tanh": (-1.0, 1.0), "softsign": (-1.0, 1.0), "hard_tanh": (-1.0, 1.0),
           "relu": (0.0, None), "softplus": (0.0, None), "exponential": (0.0, None),
           "relu6": (0.0, 6.0)}  # fmt: skip


def canonical(name: Any) -> str:
    """Return the one name of a loss."""
    text = str(name)
    return _ALIASES.get(text.lower(), text)


def misfits(
    loss: str, target: Mapping[str, Any], units: int | None, rank: int | None, activation: str
) -> set[str]:
    """Return in what ways targets contradict a loss and an output.

    `units` is the width of the output, `rank` the number of its dimensions without the batch.
    """
    found: set[str] = set()
    if loss in SPARSE:
        found |= _sparse(target, units)
    elif loss in CATEGORICAL:
        found |= _categorical(target, units)
    elif loss in BINARY:
        found |= _binary(target)
    elif loss in REGRESSION:
        found |= _reach(target, activation)
    if loss in CATEGORICAL | BINARY | REGRESSION | {"poisson", "kl_divergence"}:
        found |= _width(target, units)
    found |= _rank(loss, target, rank)
    return found


def _sparse(target: Mapping[str, Any], units: int | None) -> set[str]:
    kind = target.get("kind")
    low, high = number(target.get("min")), number(target.get("max"))
    if kind == "one-hot" and (target.get("width") or 0) > 1 and target.get("width") == units:
        return {"one-hot-as-ids"}
    whole = "int" in str(target.get("dtype"))
    if low is not None and low < 0 and (whole or kind != "real"):
        return {"negative-ids"}
    if kind in ("real", "probabilities"):
        return {"real-as-classes"}
    if (
        kind not in ("class-ids", "binary", "counts")
        or high is None
        or units is None
        or high < units
    ):
        return set()
    return {"ids-from-one" if low is not None and low >= 1 and high == units else "too-few-units"}


def _categorical(target: Mapping[str, Any], units: int | None) -> set[str]:
    kind, width = target.get("kind"), target.get("width") or 1
    if kind in ("class-ids", "binary", "counts") and width == 1 and (units or 0) > 1:
        return {"ids-as-one-hot"}
    if kind == "real" and _outside(target, 0.0, 1.0):
        return {"real-as-classes"}
    return {"several-labels"} if kind == "multi-label" else set()


def _binary(target: Mapping[str, Any]) -> set[str]:
    low, high = number(target.get("min")), number(target.get("max"))
    if target.get("kind") == "class-ids" and high is not None and high > 1:
        return {"ids-as-shares"}
    if low is not None and high is not None and (low, high) == (-1.0, 1.0):
        return {"signs-as-shares"}
    return {"real-as-shares"} if _outside(target, 0.0, 1.0) else set()


def _outside(target: Mapping[str, Any], low: float, high: float) -> bool:
    least, most = number(target.get("min")), number(target.get("max"))
    if least is None or most is None:
        return False
    return least < low - _SLACK or most > high + _SLACK


def _reach(target: Mapping[str, Any], activation: str) -> set[str]:
    """Tell whether a good part of the targets lies where an output cannot go."""
    least, most = number(target.get("min")), number(target.get("max"))
    low, high = _BOUNDS.get(activation, (None, None))
    if least is None or most is None or most <= least or (low is None and high is None):
        return set()
    beyond = 0.0
    if low is not None:
        beyond = max(beyond, low - least)
    if high is not None:
        beyond = max(beyond, most - high)
    return {"out-of-reach"} if beyond > _BEYOND * (most - least) else set()


def _width(target: Mapping[str, Any], units: int | None) -> set[str]:
    width, kind = target.get("width"), target.get("kind")
    shape = target.get("shape")
    if not isinstance(width, int) or units is None or width < 2 or width == units:
        return set()
    if not isinstance(shape, list) or len(shape) != 1 or shape[0] != width:
        return set()
    return {"other-width"} if kind in ("one-hot", "multi-label", "real", "counts") else set()


def _rank(loss: str, target: Mapping[str, Any], rank: int | None) -> set[str]:
    """Tell whether an output has dimensions that labels of single rows do not have."""
    shape, kind = target.get("shape"), target.get("kind")
    if rank is None or not isinstance(shape, list):
        return set()
    single = len(shape) == 0 or (len(shape) == 1 and (shape[0] == 1 or kind == "one-hot"))
    if not single or rank < 2:
        return set()
    known = loss in SPARSE | CATEGORICAL | BINARY | REGRESSION
    return {"needs-flattening"} if known else set()
