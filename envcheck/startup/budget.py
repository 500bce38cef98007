"""A time budget that ends even a probe that hangs. CPython 3.9, standard library."""

from __future__ import annotations

import math
import signal
import threading
import time
from typing import Any, Callable, TypeVar

__all__ = ["Budget", "OutOfTime"]

T = TypeVar("T")
_AGAIN = 0.1
"""Seconds after which the alarm rings once more, should a callback have swallowed it."""


class OutOfTime(BaseException):
    """The budget is used up.

    No `Exception`, because probes turn those into facts about themselves.
    """


class Budget:
    """Seconds that some work may take, from now on."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, not below zero."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def within(self, work: Callable[[], T]) -> T:
        """Return what the work returns. Raises OutOfTime when the budget ends first.

        System calls that wait are interrupted where the platform has interval timers and this
        is the main thread; elsewhere the work runs to its end. A timer that was set before,
        by a budget around this one or by the program, goes on afterwards.
        """
        left = self.left
        if left <= 0:
            raise OutOfTime
        if math.isinf(left) or not _has_timer():
            return work()
        start, handler = time.monotonic(), signal.getsignal(signal.SIGALRM)
        before = signal.getitimer(signal.ITIMER_REAL)
        try:
            signal.signal(signal.SIGALRM, _ring)
            signal.setitimer(signal.ITIMER_REAL, left, _AGAIN)
            return work()
        finally:
            _put_back(handler, before, start)


def _put_back(handler: Any, before: tuple[float, float], start: float) -> None:
    """Restore handler and timer, even when the alarm rings in the middle of it."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
            break
        except OutOfTime:
            continue
    if before[0]:
        left = max(before[0] - (time.monotonic() - start), 1e-6)
        signal.setitimer(signal.ITIMER_REAL, left, before[1])


def _has_timer() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "setitimer") and main


def _ring(*_: Any) -> None:
    raise OutOfTime
