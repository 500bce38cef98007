"""The result file of a self-test, for health checks. CPython 3.9, standard library."""

from __future__ import annotations

import json
from typing import Any

from envcheck.errors import InputError, NothingChecked
from envcheck.fingerprint.document import write_atomically
from envcheck.fingerprint.files import read_bounded
from envcheck.records import record

__all__ = ["SCHEMA", "VARIABLE", "State", "read_state", "write_state"]

SCHEMA = "envcheck.state/1"
VARIABLE = "ENVCHECK_STATE"
_LARGEST = 1 << 20
_HINT = "the self-test writes it: set ENVCHECK_STATE for both, to a file on a writable volume"


@record
class State:
    """What the last self-test came to: the verdict, and its exit code under the policy."""

    verdict: str
    exit_code: int
    policy: str
    checked: str
    summary: str


def write_state(path: str, state: State, details: dict[str, Any]) -> None:
    """Write the result file, whole or not at all. Raises OSError."""
    document = {
        "schema": SCHEMA,
        "verdict": state.verdict,
        "exit_code": state.exit_code,
        "policy": state.policy,
        "checked": state.checked,
        "summary": state.summary,
        **details,
    }
    write_atomically(path, json.dumps(document, indent=1, ensure_ascii=True, default=str) + "\n")


def read_state(path: str) -> State:
    """Return the result of the last self-test. Raises NothingChecked and InputError."""
    try:
        data = read_bounded(path, _LARGEST)
    except InputError as problem:
        if isinstance(problem.__cause__, FileNotFoundError):
            raise NothingChecked("no self-test has ended yet", place=path, hint=_HINT) from problem
        raise
    try:
        document = json.loads(data)
        if document["schema"] != SCHEMA:
            raise ValueError(document["schema"])
        texts = [document[name] for name in ("verdict", "policy", "checked", "summary")]
        code = document["exit_code"]
        if not all(isinstance(text, str) for text in texts) or not _is_code(code):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise InputError("is no result of a self-test", place=path, hint=_HINT) from problem
    return State(texts[0], code, texts[1], texts[2], texts[3])


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4
