"""The start-up benchmark measures what it says, and (on a quiet machine) the targets hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import fabricated, startup

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("size", "changed"), startup.CHANGED.items())
def test_two_sides_differ_as_often_as_said(size: int, changed: int) -> None:
    """The deploy side differs in that many distributions, a sixth of them replaced."""
    train = fabricated.distributions(size)
    deploy = fabricated.distributions(size, changed=changed)
    differing = [
        (mine.name, other.name)
        for mine, other in zip(train, deploy, strict=True)
        if (mine.name, mine.version) != (other.name, other.version)
    ]

    assert len({one.name for one in train}) == len({one.name for one in deploy}) == size
    assert len(differing) == changed
    assert sum(mine != other for mine, other in differing) == changed // 6


def test_a_big_record_is_among_them(tmp_path: Path) -> None:
    """One distribution in a hundred lists thousands of files, the others about forty."""
    fabricated.install(tmp_path, fabricated.distributions(20))
    lengths = sorted(
        path.read_text("utf-8").count("sha256=") for path in tmp_path.glob("*.dist-info/RECORD")
    )

    assert len(lengths) == 20
    assert lengths[-2] < 100
    assert lengths[-1] > 3000


def test_cost_counts_children() -> None:
    """The CPU time of a process includes that of the processes it waited for."""
    burn = "sum(i * i for i in range(3_000_000))"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    idle = startup.run([sys.executable, "-c", "pass"])

    assert startup.run([sys.executable, "-c", code]).cpu > 2 * idle.cpu


def test_the_table_says_what_was_missed() -> None:
    """A row has its median ratio, taken round by round, and its target."""
    samples = {
        startup.BASELINE: [startup.Sample(0.01, 0.01), startup.Sample(0.02, 0.02)],
        "envcheck capture": [startup.Sample(0.05, 0.10), startup.Sample(0.10, 0.20)],
    }
    row = startup.summary("envcheck capture", 500, samples)
    base = startup.summary(startup.BASELINE, 500, samples)

    assert (row.cpu_ratio, row.wall_ratio, row.target) == (5.0, 10.0, 10.0)
    assert "| `envcheck capture` | 500 | 5.0 | 0.0 | 10.0 | ≤ 10 |" in startup.table([base, row])


@pytest.mark.bench
def test_targets_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Capture and compare stay within their multiples of `python -c pass`."""
    assert startup.main(["--runs", "9", "--check"]) == 0, capsys.readouterr().out
