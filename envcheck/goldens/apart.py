"""The process in which a self-test replays a golden: one JSON object on standard output."""

from __future__ import annotations

import json
import os
import threading
from typing import Any, NoReturn

from envcheck.errors import EnvcheckError

__all__ = ["main"]

_EXIT_ABANDONED = 143


def main(order: dict[str, str]) -> NoReturn:
    """Replay, say what came of it, and end with 0.

    Standard output is moved aside first, so that nothing a runtime prints gets into the answer.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.write(answers, json.dumps(_answer(order), default=str).encode("ascii"))
    os._exit(0)  # a runtime that hangs or crashes while it is taken down has answered before


def _end_with_parent() -> None:
    """Wait until standard input, which the parent never writes to, is closed."""
    while os.read(0, 1):
        pass
    os._exit(_EXIT_ABANDONED)


def _answer(order: dict[str, str]) -> dict[str, Any]:
    from envcheck.goldens.replaying import replay_golden

    try:
        result = replay_golden(order["model"], order["golden"], entry=order["entry"])
    except EnvcheckError as problem:
        return {
            "error": problem.problem,
            "place": problem.place,
            "hint": problem.hint,
            "code": problem.exit_code,
        }
    except Exception as problem:  # noqa: BLE001 - told to the parent, which tells the user
        return {"fault": f"{type(problem).__name__}: {problem}"}
    return {"is_fine": result.is_fine, "summary": result.summary, "figures": result.figures()}
