"""Signals between this process and the script that it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from types import FrameType
from typing import Any, Self

__all__ = ["Forwarding", "stop"]

_PATIENCE = 10.0
"""Seconds that a script gets to end after each signal."""


_ESCALATION = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM))


class Forwarding:
    """While this is entered, signals go to the child, and this process lives on to report.

    Ctrl-C in a terminal reaches parent and child alike, so it is not passed on a second time.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def to(self, child: subprocess.Popen[bytes]) -> None:
        """Name the child that gets the signals."""
        self._child = child

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.interrupted = self.interrupted or number == signal.SIGINT
        child = self._child
        if child is None or child.returncode is not None:
            return
        if number == signal.SIGINT and in_foreground():
            return
        child.send_signal(number)


def in_foreground() -> bool:
    """Return whether Ctrl-C in the controlling terminal reaches this process and its children."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def stop(child: subprocess.Popen[bytes]) -> int:
    """Interrupt a child, then terminate, then kill it; return its exit code."""
    for number in _ESCALATION:
        child.send_signal(number)
        try:
            return child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
    return child.wait()
