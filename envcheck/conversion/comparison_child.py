"""The process in which files are loaded and run: `python -m envcheck.conversion.comparison_child`.

Reads a job (JSON) and tells its steps, what it knows, and its result, one JSON object a line, on
what was its standard output; whatever the models print goes to the log instead.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

from envcheck.conversion.child import end_with_parent, leave
from envcheck.errors import EnvcheckError

__all__ = ["main"]


def main(path: str) -> None:
    """Do the job in a file."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    end_with_parent()
    with open(path, encoding="utf-8") as file:
        job = json.load(file)

    def tell(kind: str, value: Any) -> None:
        channel.write(json.dumps({"kind": kind, "value": value}) + "\n")
        channel.flush()

    try:
        tell("result", _TASKS[job["task"]](job, tell))
    except EnvcheckError as problem:
        tell("error", {"class": type(problem).__name__, "problem": problem.problem,
                       "place": problem.place, "hint": problem.hint})  # fmt: skip
    except Exception as problem:  # noqa: BLE001 - told to the parent, which reports it
        words = f"{type(problem).__name__}: {problem}"
        tell("crash", {"problem": words, "traceback": traceback.format_exc()})
    channel.close()
    sys.stdout.flush()
    leave()


def _compare(job: dict[str, Any], tell: Any) -> dict[str, Any]:
    from envcheck.conversion.handing_over import read_handed
    from envcheck.conversion.planning import plan_of
    from envcheck.conversion.running import compare_files

    plan = plan_of(
        inputs=read_handed(job["inputs"]),
        **{name: job[name] for name in ("to", "imports", "allow_code", "repro", "settings")},
        progress=lambda step: tell("step", step),
        tell=lambda known: tell("known", known),
    )
    return compare_files(job["reference"], job["candidate"], plan).to_json()


def _trace(job: dict[str, Any], tell: Any) -> int:
    from envcheck.conversion.handing_over import read_handed
    from envcheck.conversion.tracing_models import trace_file

    names = ("model", "output", "imports", "allow_code", "runtime", "level", "budget", "facts")
    return trace_file(
        inputs=read_handed(job["inputs"]),
        progress=lambda step: tell("step", step),
        **{name: job[name] for name in names},
    )


_TASKS = {"compare": _compare, "trace": _trace}


if __name__ == "__main__":
    main(sys.argv[1])
