"""Capture another interpreter by running it, with nothing of ours installed into it."""

from __future__ import annotations

import json
import os
import signal
from importlib import import_module
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError
from envcheck.facts import STATES, Fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from subprocess import Popen

    from envcheck.facts import Facts

__all__ = ["TIMEOUT", "capture_other"]

TIMEOUT = 120.0
"""Seconds that the other interpreter may take."""
_PACKAGES = ("envcheck.artefacts", "envcheck.fingerprint", "envcheck.probing", "envcheck.probes")
_MODULES = (
    "envcheck", "envcheck.catalogue", "envcheck.errors", "envcheck.facts", "envcheck.records",
)  # fmt: skip
_NOT_OURS = ("__PYVENV_LAUNCHER__", "PYTHONEXECUTABLE", "PYTHONINSPECT")
"""Variables that speak of the process that reads them, or would keep it from ending."""
_OLDEST = "3.9"


def capture_other(
    exe: str,
    *,
    files: Sequence[str] = (),
    models: Sequence[str] = (),
    deep: bool = False,
    timeout: float = TIMEOUT,
) -> Facts:
    """Return the facts of another interpreter, the same as captured from within it.

    `exe` is a path, or a name that is looked up on PATH. Its own variables, virtual environment
    and start-up files are honoured; nothing is installed, compiled or written.

    Raises InputError where it cannot be run, is no CPython >= 3.9, fails, or takes longer than
    `timeout` seconds.
    """
    from envcheck.probing.runner import BOOT

    program = _find(exe)
    mark = f"<{os.urandom(16).hex()}>"
    job = {
        "sources": dict(_sources()),
        "files": [os.path.abspath(path) for path in files],
        "models": [os.path.abspath(path) for path in models],
        "deep": deep,
    }
    out, err, code = _run([program, "-B", "-c", BOOT, mark], json.dumps(job), exe, timeout)
    answer = _between(out, mark)
    if answer is None:
        raise _failure(exe, code, err)
    if isinstance(answer.get("too_old"), str):
        raise InputError(
            f"is Python {answer['too_old']}", place=exe, hint=f"CPython {_OLDEST} or later is read"
        )
    facts = _facts(answer.get("facts"))
    if facts is None:
        raise InputError("answered with something that is no capture", place=exe)
    return facts


def _find(exe: str) -> str:
    """Return the path of the program, or say why it cannot be run."""
    hint = "give the path of a Python program, such as /opt/venv/bin/python"
    if os.path.dirname(exe):
        program = exe
    else:
        import shutil

        program = shutil.which(exe) or ""
        if not program:
            raise InputError("is not on PATH", place=exe, hint=hint)
    if os.path.isdir(program):
        raise InputError("is a folder", place=exe, hint=hint)
    if not os.path.exists(program):
        raise InputError("does not exist", place=exe, hint=hint)
    if not os.access(program, os.X_OK):
        raise InputError("is not executable", place=exe, hint=hint)
    return program


def _sources() -> Iterator[tuple[str, str]]:
    """Yield the name and the source text of every module that a capture needs."""
    import pkgutil

    for name in _MODULES:
        yield name, _source(name)
    for package in _PACKAGES:
        yield package, _source(package)
        for found in pkgutil.iter_modules(import_module(package).__path__):
            if not found.ispkg:
                yield f"{package}.{found.name}", _source(f"{package}.{found.name}")


def _text_at(path: str | None) -> str | None:
    """Return the source in a file, for loaders that do not tell it, such as pytest's."""
    if path is None or not path.endswith(".py"):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _source(name: str) -> str:
    """Return the source text of one of our modules, wherever we run from."""
    from importlib.util import find_spec

    spec = find_spec(name)
    find = getattr(spec.loader, "get_source", None) if spec else None
    text = find(name) if find else _text_at(spec.origin if spec else None)
    if text is None:
        raise InputError(
            f"the source of {name} is not at hand, which another interpreter would need"
        )
    return str(text)


def _run(command: list[str], text: str, exe: str, timeout: float) -> tuple[bytes, bytes, int]:
    """Run the command in a process group of its own; return output, errors and exit code."""
    import subprocess

    environ = {key: value for key, value in os.environ.items() if key not in _NOT_OURS}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,
        )
    except OSError as problem:
        raise InputError(
            f"cannot be started: {problem.strerror or problem}", place=exe, hint="is it a program?"
        ) from problem
    with process:
        try:
            out, err = process.communicate(text.encode("ascii"), timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            raise InputError(f"gave no answer within {timeout:g} seconds", place=exe) from None
        except BaseException:
            _end(process)
            raise
    return out, err, process.returncode


def _end(process: Popen[bytes]) -> None:
    """End the process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        process.kill()


def _between(out: bytes, mark: str) -> dict[str, Any] | None:
    """Return the answer between the marks, or None; anything else was printed by others."""
    parts = out.decode("utf-8", "replace").split(mark)
    if len(parts) < 3:
        return None
    try:
        data = json.loads(parts[-2])
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _failure(exe: str, code: int, err: bytes) -> InputError:
    """Return the error for an answer that did not come."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return InputError(f"was ended by {name}", place=exe, hint=_said(err))
    if b"Traceback (most recent call last)" in err:
        return InputError("is Python, but the capture in it failed", place=exe, hint=_said(err))
    return InputError(
        f"does not behave like a Python program (exit code {code})", place=exe, hint=_said(err)
    )


def _said(err: bytes) -> str:
    """Return the last line that was written to standard error, made harmless."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return ""
    last = "".join(char if char.isprintable() else "?" for char in lines[-1])
    return f"it said: {last[:300]}"


def _facts(data: object) -> Facts | None:
    """Return the facts of an answer, or None where it is not of that form."""
    if not isinstance(data, dict):
        return None
    out: Facts = {}
    for key, entry in data.items():
        if not isinstance(entry, dict) or entry.get("state") not in STATES:
            return None
        texts: Iterable[object] = (entry.get("reason", ""), entry.get("source", ""))
        if not all(isinstance(text, str) for text in texts):
            return None
        out[key] = Fact.from_json(entry)
    return dict(sorted(out.items()))
