"""Replay a golden in a process of its own, for a self-test.

A runtime that hangs in native code is ended with the budget, one that crashes takes nothing
with it, what it prints stays out of the log, and its memory is free again before the
application starts. CPython 3.9, standard library.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from typing import Any

from envcheck.errors import EXIT_UNDETERMINED, EnvcheckError, InputError, NothingChecked
from envcheck.goldens.processes import command_for
from envcheck.records import field, record
from envcheck.startup.budget import Budget, OutOfTime

__all__ = ["Replayed", "replay_apart"]

_LONGEST = 300


@record
class Replayed:
    """What a replay came to: whether the recording is met, one line, and figures for a log."""

    is_fine: bool
    summary: str
    figures: dict[str, Any] = field(default_factory=dict)


def replay_apart(model: str, golden: str, entry: str, budget: Budget) -> Replayed:
    """Return what `envcheck golden replay` comes to within the budget.

    A runtime that ends the process is a result, too: `failed`. Raises EnvcheckError, and
    OutOfTime when the budget ends first; the process is gone then.
    """
    order = {"model": model, "golden": golden, "entry": entry}
    if budget.is_spent:
        raise OutOfTime
    kept, lifeline = os.pipe()  # the child ends when nobody holds the other end any more
    try:
        child = subprocess.Popen(
            command_for("envcheck.goldens.apart", order),
            stdin=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        os.close(kept)
    try:
        left = None if math.isinf(budget.left) else budget.left
        said, complaint = child.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        raise OutOfTime from None
    finally:
        child.kill()
        child.communicate()
        os.close(lifeline)
    return _understood(said, child.returncode, complaint)


def _understood(said: bytes, code: int, complaint: bytes) -> Replayed:
    """Return what the child said; without an answer, how it ended."""
    try:
        answer = json.loads(said)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        last = f": {lines[-1][:_LONGEST]}" if lines else ""
        problem = f"run: the runtime ended the process {how}{last}"
        return Replayed(False, f"golden: failed: {problem}",
                        {"verdict": "failed", "problem": problem})  # fmt: skip
    if "fault" in answer:
        raise RuntimeError(answer["fault"])
    if "error" in answer:
        kind: type[EnvcheckError] = InputError
        if answer["code"] == EXIT_UNDETERMINED:
            kind = NothingChecked
        raise kind(answer["error"], place=answer["place"], hint=answer["hint"])
    return Replayed(answer["is_fine"], answer["summary"], answer["figures"])
