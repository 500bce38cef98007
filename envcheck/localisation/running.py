"""Run a training script in a process of its own, recorded, and read what it left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError
from envcheck.localisation.signalling import Forwarding, stop

if TYPE_CHECKING:
    from envcheck.fingerprint import Fingerprint

__all__ = ["Run", "run_recorded"]

_HINT = "for example: envcheck localise train.py --epochs 3"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One recorded run: the training log as JSON data, and the exit code of the script.

    The exit code is negative for a script that a signal ended, as `subprocess` has it.
    """

    log: dict[str, Any]
    exit_code: int


def run_recorded(
    script: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    *,
    max_seconds: float | None = None,
    fingerprint: bool = True,
) -> Run:
    """Run a script as `python script arguments…` would, and return what was recorded.

    The script has the terminal, the streams and the working folder of this process. After
    `max_seconds` it is interrupted, then terminated, then killed. With `fingerprint` that of this
    environment goes into the log. Raises InputError for a script that cannot be run.
    """
    path = os.fspath(script)
    _check_script(path)
    folder = tempfile.mkdtemp(prefix="envcheck-")
    try:
        log = os.path.join(folder, "training.json")
        begun = time.time()
        exit_code, interrupted = _run_child(path, list(arguments), log, max_seconds)
        data = _read(log, path)
        _complete(data["program"], exit_code, interrupted, time.time() - begun)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if fingerprint:
        data["fingerprint"] = _fingerprint().to_json()
    return Run(log=data, exit_code=exit_code)


def _check_script(path: str) -> None:
    """Raise InputError for what is no script."""
    if os.path.isdir(path):
        raise InputError("is a folder; a script is needed", place=path, hint=_HINT)
    try:
        with open(path, "rb") as stream:
            begins = stream.read(256)
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", place=path, hint=_HINT) from problem
    if path.endswith(".ipynb"):
        hint = "convert it first: jupyter nbconvert --to script notebook.ipynb"
        raise InputError("is a notebook; a script is needed", place=path, hint=hint)
    if b"\0" in begins:
        raise InputError("is no Python source", place=path, hint=_HINT)


def _run_child(
    script: str, arguments: list[str], log: str, max_seconds: float | None
) -> tuple[int, str | None]:
    """Run the child to its end; return its exit code and what interrupted it."""
    from envcheck.localisation.recording.launching import BOOTSTRAP

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    options = interpreter_options(sys.orig_argv)
    command = [sys.executable, *options, "-c", BOOTSTRAP, package, log, script, *arguments]
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    with Forwarding() as forwarding:
        child = subprocess.Popen(command)
        forwarding.to(child)
        try:
            rest = None if deadline is None else max(0.0, deadline - time.monotonic())
            code = child.wait(rest)
        except subprocess.TimeoutExpired:
            return stop(child), "time-limit"
    return code, _interruption(code, forwarding.interrupted)


def _interruption(code: int, asked: bool) -> str | None:
    if code == -signal.SIGINT or (asked and code != 0):
        return "ctrl-c"
    return "killed" if code < 0 else None


def interpreter_options(words: Sequence[str]) -> list[str]:
    """Return the options of the interpreter itself in its command line, such as -O and -X dev."""
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-") or word in ("-", "--"):
            break
        kept, ends, takes_next = _option(word)
        if kept:
            found.append(kept)
        if ends:
            break
        if takes_next:
            found.append(next(rest, ""))
    return found


def _option(word: str) -> tuple[str, bool, bool]:
    """Return one option to keep, whether it is the last, and whether the next word is its value."""
    if word.startswith("--"):
        return word, False, word == "--check-hash-based-pycs"
    for index, letter in enumerate(word[1:], start=1):
        if letter in "mc":
            return word[:index] if index > 1 else "", True, False
        if letter in "WX":
            return word, False, index == len(word) - 1
    return word, False, False


def _read(log: str, script: str) -> dict[str, Any]:
    """Return the log that the child left, or an empty one that says why there is none."""
    try:
        with open(log, encoding="utf-8") as stream:
            data: dict[str, Any] = json.load(stream)
            return data
    except FileNotFoundError:
        return _empty(script, "the program ended before anything was recorded")
    except (OSError, ValueError) as problem:
        return _empty(script, f"the training log cannot be read: {problem}")


def _empty(script: str, reason: str) -> dict[str, Any]:
    from envcheck.localisation.recording.importing import script_name
    from envcheck.localisation.recording.session import Session

    session = Session(script_name(script), time.time())
    session.note_reason(reason)
    return session.document()


def _complete(program: dict[str, Any], code: int, interrupted: str | None, seconds: float) -> None:
    """Add to the log what only the parent knows."""
    program["exit_code"] = code
    program["interrupted"] = interrupted
    if program["seconds"] is None:
        program["seconds"] = round(seconds, 3)


def _fingerprint() -> Fingerprint:
    from envcheck.capturing import capture

    return capture(role="train")
