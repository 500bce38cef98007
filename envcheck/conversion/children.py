"""Processes of our own that convert or run models, within a time and a memory limit.

A child never outlives its parent: it holds the reading end of a pipe as its standard input, and
ends when the pipe closes. What it prints goes to a log, so that it never mixes with a report.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["POLL_SECONDS", "Limits", "Watch", "end", "start"]

POLL_SECONDS = 0.1
"""Between two looks at a child."""
_LEAST_MEMORY = 2 << 30
_MEANINGS = {
    "SIGSEGV": "a segmentation fault in native code",
    "SIGABRT": "native code gave up",
    "SIGBUS": "native code read memory that is not there",
    "SIGILL": "native code uses an instruction that this processor lacks",
    "SIGFPE": "native code divided by zero",
    "SIGKILL": "as the system does when memory runs out",
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a child may take. Memory 0: a share of what is free, at least 2 GiB."""

    seconds: float = 1800.0
    memory_bytes: int = 0

    def memory(self, share: float = 0.7) -> int:
        """Return the memory limit in bytes."""
        if self.memory_bytes:
            return self.memory_bytes
        import psutil

        return max(_LEAST_MEMORY, int(share * psutil.virtual_memory().available))


@dataclass(kw_only=True)
class Watch:
    """The clock and the memory of one child. `who` names it in what is said about its end."""

    child: subprocess.Popen[bytes]
    seconds: float
    memory: int
    who: str
    _left: float = field(default=0.0, init=False)
    _since: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        import psutil

        self._left, self._since = self.seconds, time.monotonic()
        try:
            self._process: Any = psutil.Process(self.child.pid)
        except psutil.NoSuchProcess:
            self._process = None

    def pause(self) -> None:
        """Stop the clock, while the child waits for a child of its own."""
        if self._since is not None:
            self._left -= time.monotonic() - self._since
            self._since = None

    def resume(self) -> None:
        """Let the clock run again."""
        if self._since is None:
            self._since = time.monotonic()

    def exceeded(self) -> str:
        """Return which limit the child has gone beyond, or nothing."""
        import psutil

        try:
            used = self._process.memory_info().rss if self._process is not None else 0
        except psutil.Error:
            used = 0
        if used > self.memory:
            return f"{self.who} was ended at the memory limit of {self.memory / 2**30:.3g} GiB"
        spent = 0.0 if self._since is None else time.monotonic() - self._since
        if spent > self._left:
            return f"{self.who} was ended at the time limit of {self.seconds:g} s"
        return ""

    def how_it_ended(self) -> str:
        """Return how an ended child ended, or nothing where it ended by itself and well."""
        code = self.child.returncode
        if code is None or code == 0:
            return ""
        if code > 0:
            shown = f"{code:#x}" if code > 0xFFFF else str(code)  # Windows: an exception's number
            return f"{self.who} ended with exit code {shown}"
        name = signal.Signals(-code).name
        meaning = _MEANINGS.get(name)
        return f"{self.who} was ended by {name}" + (f", {meaning}" if meaning else "")


def start(
    module: str,
    job: str,
    *,
    log: IO[bytes],
    output: int | IO[bytes],
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `python -m MODULE JOB` with this process's import path, and nothing else of it.

    Its standard input stays open until this process lets go of it: `end`.
    """
    path = os.pathsep.join(dict.fromkeys(place or os.getcwd() for place in sys.path))
    return subprocess.Popen(
        [sys.executable, "-P", "-X", "faulthandler", "-m", module, job],
        stdin=subprocess.PIPE, stdout=output, stderr=log,
        env={**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", **(environment or {})},
        start_new_session=True,
    )  # fmt: skip


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started, if it still runs."""
    if child.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()
    if child.stdin is not None:
        child.stdin.close()
