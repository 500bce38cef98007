"""Probes are made early, and later within a budget."""

from __future__ import annotations

import pytest

from envcheck.localisation.recording.schedule import ProbeSchedule


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        """Return the time, in seconds."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock that the schedule reads."""
    made = Clock()
    monkeypatch.setattr("time.perf_counter", made)
    return made


def test_cheap_probes_are_made_at_powers_of_two(clock: Clock) -> None:
    """Steps 0, 1, 2, 4, 8, ... are probed."""
    plan = ProbeSchedule()
    made = []
    for step in range(40):
        if plan.is_due(step, spent=0.0):
            plan.note(0.0)
            made.append(step)

    assert made == [0, 1, 2, 4, 8, 16, 32]


def test_dear_probes_are_made_four_times(clock: Clock) -> None:
    """A probe of two seconds is made before steps 0, 1, 2 and 4, and again once it is earned."""
    plan, made, spent = ProbeSchedule(), [], 0.0
    for step in range(10_000):
        clock.now += 0.1
        if plan.is_due(step, spent=spent):
            plan.note(2.0)
            spent += 2.0
            made.append(step)

    # After the first one three cost 6 s; a fourth fits when 1 % of the time is 8 s: at 800 s.
    assert made == [0, 1, 2, 4, 8192]
    assert plan.skipped == len([8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096])


def test_the_end_of_an_epoch_is_probed_unless_the_next_step_is(clock: Clock) -> None:
    """An epoch that ends where a step is probed anyway costs no second probe."""
    plan = ProbeSchedule()
    for _ in range(4):
        plan.note(0.0)

    assert plan.is_due(25, spent=0.0, epoch_end=True)
    assert not plan.is_due(32, spent=0.0, epoch_end=True)
    assert plan.skipped == 0
