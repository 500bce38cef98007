"""Run both sides on other numbers of samples: a batch size may be baked in, or change results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import relative_error
from envcheck.conversion.recording import call_model
from envcheck.conversion.runtimes.protocol import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.gate import Pairing
    from envcheck.conversion.inputs import Samples
    from envcheck.conversion.runtimes.protocol import Candidate

__all__ = ["SIZES", "BatchProblem", "other_batches", "told_problem"]

SIZES = (1, 3, 5)
"""One sample, and two odd numbers: what is fixed at export is seldom either of them."""


@dataclass(frozen=True, kw_only=True)
class BatchProblem:
    """What goes wrong at a batch size: `message` of a failure, or the `error` of an output."""

    size: int
    message: str = ""
    output: str = ""
    error: float = 0.0


def other_batches(
    model: Any,
    candidate: Candidate,
    samples: Samples,
    bind: Callable[[tuple[Array, ...]], Pairing],
    outputs: Sequence[tuple[str, str, float]],
) -> list[BatchProblem]:
    """Return what goes wrong at batch sizes other than that of the samples.

    `bind` pairs inputs in the reference's order with the candidate's; `outputs` names the
    candidate's outputs in the reference's order, with the reference's name and a tolerance. Sizes
    that the reference itself refuses are left out; samples are repeated to fill a batch.
    """
    import numpy as np

    rows = {int(value.shape[0]) if value.ndim else 0 for value in samples.values}
    given = max(rows, default=0)
    if not candidate.runs or rows != {given} or not given:
        return []
    found = []
    for size in SIZES:
        if size == given:
            continue
        places = [place % given for place in range(size)]
        values = tuple(np.ascontiguousarray(value[places]) for value in samples.values)
        wanted = _reference(model, samples, values)
        if wanted is not None:
            found += _compare(candidate, size, bind(values), outputs, wanted)
    return found


def _reference(model: Any, samples: Samples, values: tuple[Array, ...]) -> list[Array] | None:
    """Return the reference's outputs, or None where it does not take as many samples."""
    import keras

    from envcheck.conversion.arrays import plain

    try:
        tensors = tuple(keras.ops.convert_to_tensor(value) for value in values)
        return [plain(v) for v in keras.tree.flatten(call_model(model, samples.packed(tensors)))]
    except Exception:  # noqa: BLE001 - whatever a layer raises
        return None


def _compare(
    candidate: Candidate,
    size: int,
    pairing: Pairing,
    outputs: Sequence[tuple[str, str, float]],
    wanted: list[Array],
) -> list[BatchProblem]:
    if pairing.problems:
        return [BatchProblem(size=size, message=pairing.problems[0])]
    try:
        values = candidate.run(pairing.feeds)
        seen = dict(zip((f.name for f in candidate.outputs), values, strict=True))
    except Failure as failure:
        return [BatchProblem(size=size, message=failure.message)]
    for (tensor, name, tolerance), value in zip(outputs, wanted, strict=True):
        if value.dtype.kind in "OSU":
            continue
        error = relative_error(seen[tensor], value)
        if error > tolerance:
            return [BatchProblem(size=size, output=name, error=error)]
    return []


def told_problem(problems: Sequence[BatchProblem], samples: Samples) -> str:
    """Return in words that a candidate refuses batch sizes that the reference takes."""
    sizes = " or ".join(str(problem.size) for problem in problems)
    first = next((line for line in problems[0].message.splitlines() if line.strip()), "")
    return (
        f"it runs on batches of {samples.values[0].shape[0]} samples and not of {sizes}, where the"
        f" reference runs on all: a batch size was fixed at export ({first.strip()[:160]})"
    )
