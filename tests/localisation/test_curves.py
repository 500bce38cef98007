"""Curves made so that their direction, noise and tail are known."""

from __future__ import annotations

import math

from envcheck.localisation.curves import blocks_of, direction, tail_of, turns

_WOBBLE = (0.02, -0.03, 0.01, -0.01, 0.03, -0.02, 0.0)
"""Noise that repeats; its median is 0."""


def _noisy(levels: list[float]) -> list[float]:
    return [level + _WOBBLE[index % len(_WOBBLE)] for index, level in enumerate(levels)]


def _direction(values: list[float]) -> str:
    blocks = blocks_of(values)
    assert blocks is not None
    return direction(blocks)


def test_falling() -> None:
    """An exponential decay falls."""
    assert _direction(_noisy([2 * math.exp(-i / 50) for i in range(200)])) == "falling"


def test_noise_alone_is_flat() -> None:
    """A level with noise around it goes nowhere."""
    assert _direction(_noisy([0.7] * 200)) == "flat"


def test_rising() -> None:
    """A loss that doubles rises."""
    assert _direction(_noisy([1 + i / 200 for i in range(200)])) == "rising"


def test_a_small_rise_after_a_fall_is_still_a_fall() -> None:
    """What counts is where it began and ended."""
    assert (
        _direction(_noisy([2 - i / 100 for i in range(150)] + [0.5 + i / 500 for i in range(50)]))
        == "falling"
    )


def test_too_short() -> None:
    """Five points have no direction."""
    assert blocks_of([5.0, 4.0, 3.0, 2.0, 1.0]) is None


def test_block_medians() -> None:
    """Six points make two blocks of three."""
    blocks = blocks_of([9.0, 5.0, 7.0, 1.0, 2.0, 6.0])
    assert blocks is not None
    assert blocks.levels == (7.0, 2.0)


def test_turns_of_a_saw() -> None:
    """A curve that jumps between two levels block by block turns at each inner block."""
    blocks = blocks_of([level for i in range(20) for level in [1.0 + (i % 2)] * 10])
    assert blocks is not None
    assert turns(blocks) == 1.0


def test_no_turns_in_noise() -> None:
    """Noise turns all the time, but not by more than noise."""
    blocks = blocks_of(_noisy([1.0] * 400))
    assert blocks is not None
    assert turns(blocks) == 0.0


def test_tail_of_a_straight_line() -> None:
    """From 100 points of 2.0 − 0.01·i the last 20 fall from 1.20 to 1.01."""
    tail = tail_of([2 - 0.01 * i for i in range(100)])
    assert tail is not None
    # level: the median of the first six points of the tail, 1.175; drop 0.19
    assert math.isclose(tail.drop, 0.19 / 1.175, rel_tol=1e-9)
    assert tail.certain


def test_tail_of_noise_is_not_certain() -> None:
    """No slope beyond doubt."""
    tail = tail_of(_noisy([0.4] * 100))
    assert tail is not None
    assert not tail.certain


def test_tail_needs_eight_points() -> None:
    """Seven points say nothing about a tail."""
    assert tail_of([1.0] * 7) is None
