"""When a fit is probed: densely at first, then ever more rarely, within a share of its time."""

from __future__ import annotations

import time

__all__ = ["ProbeSchedule"]

SHARE = 0.01
"""Most of the time of a fit that may go into probes after the first one, in which they are traced.

Those of steps 0, 1, 2 and 4 and the last one are made anyway.
"""

GRACE = 0.25
"""Seconds that may go into them in any case, for fits that last a moment."""

GLANCE_SHARE = 0.003
"""Most of the time of a fit that may go into looking for weights that are not finite."""

_GLANCES = 256
"""Steps before which the weights are looked at whatever it costs."""

_ALWAYS = 4
"""Probes that are made whatever they cost: those of steps 0, 1, 2 and 4."""


class ProbeSchedule:
    """Steps 0, 1, 2, 4, 8, … and the ends of epochs, as far as the budget goes."""

    def __init__(self) -> None:
        self.made = 0
        self.skipped = 0
        self._begun = time.perf_counter()
        self._glances = 0.0
        self._dearest = 0.0
        self._first = 0.0

    def is_due(self, step: int, *, spent: float, epoch_end: bool = False) -> bool:
        """Return whether to probe now; `spent` is the cost of all probes so far, in seconds.

        A step is counted from 0; probing "at" step k means before it is done.
        """
        power = not step & (step - 1)
        if power == epoch_end:  # the end of an epoch is the start of a step that is probed anyway
            return False
        if self.made < _ALWAYS and not epoch_end:
            return True
        if self._affordable(spent):
            return True
        self.skipped += 1
        return False

    def may_glance(self, step: int) -> bool:
        """Return whether to look before this step if all weights are finite still."""
        elapsed = time.perf_counter() - self._begun
        return step < _GLANCES or self._glances <= GLANCE_SHARE * elapsed

    def note_glance(self, cost: float) -> None:
        """Note what such a look cost, in seconds."""
        self._glances += cost

    def note(self, cost: float) -> None:
        """Note that a probe was made and what it cost, in seconds."""
        self.made += 1
        if self.made == 1:
            self._first = cost
        else:
            self._dearest = max(self._dearest, cost)

    def _affordable(self, spent: float) -> bool:
        elapsed = time.perf_counter() - self._begun
        return spent - self._first + self._dearest <= max(GRACE, SHARE * elapsed)
