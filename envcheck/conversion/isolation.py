"""Compare or trace files in a child process, and tell how it ended where it gave no result."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck import errors
from envcheck.conversion.children import POLL_SECONDS, Watch, end, start
from envcheck.conversion.handing_over import write_inputs
from envcheck.errors import EnvcheckError, NothingChecked

if TYPE_CHECKING:
    from collections.abc import Callable

    from envcheck.conversion.children import Limits
    from envcheck.conversion.planning import Plan
    from envcheck.findings import Report

__all__ = ["ChildCrash", "Told", "compare_isolated", "trace_isolated"]

_MODULE = "envcheck.conversion.comparison_child"
_SHARE = 0.9
"""Of the free memory that a comparison may take unless a limit is given."""
_TAIL = 2000


class ChildCrash(RuntimeError):
    """The child raised what it should not have: a fault of envcheck."""


@dataclass(kw_only=True)
class Told:
    """What a child told: its last step, what it knew by then, and its result or its end."""

    step: str = ""
    known: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    ended: str = ""
    log: str = ""


def compare_isolated(
    source: str, target: str | None, plan: Plan, *, to: str, settings: dict[str, Any]
) -> Report:
    """Return the report of a comparison made in a process of its own. Raises what it raises."""
    from envcheck.conversion.interruption import interrupted
    from envcheck.reporting.stored import parse_report

    request = {
        "reference": source, "candidate": target, "to": to, "imports": list(plan.imports),
        "allow_code": plan.allow_code, "repro": plan.repro, "settings": settings,
    }  # fmt: skip
    told = _ask("compare", request, plan.inputs, plan.limits, plan.options.progress)
    if told.ended:
        return interrupted(told, source, target)
    return parse_report(json.dumps(told.result))


def trace_isolated(
    request: dict[str, Any], inputs: Any, limits: Limits, progress: Callable[[str], None]
) -> int:
    """Return the number of arrays in a trace written by a child. Raises what it raises."""
    try:
        told = _ask("trace", request, inputs, limits, progress)
    finally:
        part = f"{request['output']}.part"
        if os.path.exists(part):
            os.unlink(part)
    if told.ended:
        raise NothingChecked(
            f"cannot be traced: {told.ended}{f', while {told.step}' if told.step else ''}",
            place=request["model"],
        )
    return int(told.result)


def _ask(
    task: str,
    request: dict[str, Any],
    inputs: Any,
    limits: Limits,
    progress: Callable[[str], None],
) -> Told:
    folder = tempfile.mkdtemp(prefix="envcheck-")
    try:
        job = {"task": task, **request, "inputs": write_inputs(inputs, folder)}
        path = os.path.join(folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file, default=float)
        log_path = os.path.join(folder, "log.txt")
        with open(log_path, "wb") as log:
            child = start(
                _MODULE, path, log=log, output=subprocess.PIPE, environment={"TMPDIR": folder}
            )
            told = _listen(child, limits, progress)
        with open(log_path, encoding="utf-8", errors="replace") as file:
            told.log = file.read()[-_TAIL:]
        return told
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _listen(
    child: subprocess.Popen[bytes], limits: Limits, progress: Callable[[str], None]
) -> Told:
    """Follow a child until it ends, by itself or at a limit."""
    watch = Watch(
        child=child, seconds=limits.seconds, memory=limits.memory(_SHARE),
        who="the process that ran it",
    )  # fmt: skip
    told, lines = Told(), queue.SimpleQueue[bytes]()
    reader = threading.Thread(target=_read, args=(child, lines), daemon=True)
    reader.start()
    try:
        while not told.ended:
            try:
                line = lines.get(timeout=POLL_SECONDS)
            except queue.Empty:
                told.ended = watch.exceeded()
                continue
            if not line:
                child.wait()
                break
            _take(told, json.loads(line), watch, progress)
            told.ended = watch.exceeded()
    finally:
        end(child)
        reader.join()
    if told.result is None:
        told.ended = told.ended or watch.how_it_ended() or "the process that ran it ended early"
    else:
        told.ended = ""
    return told


def _read(child: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    assert child.stdout is not None
    with child.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _take(told: Told, message: Any, watch: Watch, progress: Callable[[str], None]) -> None:
    """Take one message. Raises what the child raised."""
    kind, value = message["kind"], message["value"]
    if kind == "step":
        told.step = value
        progress(value)
    elif kind == "result":
        told.result = value
    elif kind == "error":
        raise _error(value)
    elif kind == "crash":
        crash = ChildCrash(value["problem"])
        crash.add_note(value["traceback"])
        raise crash
    elif "waiting" in value:
        (watch.pause if value["waiting"] else watch.resume)()
    else:
        told.known.update(value)


def _error(value: dict[str, str]) -> EnvcheckError:
    """Return the error that the child raised, of the same class."""
    kind = getattr(errors, value["class"], EnvcheckError)
    made: EnvcheckError = kind.__new__(kind)
    EnvcheckError.__init__(made, value["problem"], place=value["place"], hint=value["hint"])
    return made
