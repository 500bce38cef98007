"""What `capture` says about a capture."""

from __future__ import annotations

from envcheck.cli.capture import summary
from envcheck.facts import error, ok, unknown
from envcheck.fingerprint import Fingerprint

KNOWN = {
    "os.system": ok("linux"),
    "cpu.architecture": ok("x86_64"),
    "python.implementation": ok("cpython"),
    "python.version": ok("3.11.7"),
    "package.numpy": ok({}),
}


def test_all_known() -> None:
    """A complete capture is one line."""
    assert summary(Fingerprint(KNOWN), verbose=False) == [
        "captured CPython 3.11.7 on Linux x86_64: 5 facts, 1 of them distributions"
    ]


def test_unknown_facts_by_reason() -> None:
    """Facts that are not known are counted and told with their reason, in few lines."""
    facts = {f"limits.x{n}": unknown("/sys is masked\x1b[2J") for n in range(5)}
    facts |= {f"gpu.x{n}": error(f"reason {n}") for n in range(9)}
    lines = summary(Fingerprint({**KNOWN, **facts}), verbose=False)

    assert lines[1] == "not known: 14 of them"
    assert lines[2] == r"  limits.x0, limits.x1, limits.x2 and 2 more: /sys is masked\x1b[2J"
    assert lines[-1] == "  and 5 more reasons (-v shows them)"


def test_everything_on_request() -> None:
    """Verbose names every fact and every reason."""
    facts = {f"gpu.x{n}": unknown(f"reason {n % 7}") for n in range(20)}
    lines = summary(Fingerprint({**KNOWN, **facts}), verbose=True)

    assert all(any(key in line for line in lines) for key in facts)


def test_nothing_known_about_the_machine() -> None:
    """Where the machine is not known the line says so and names nothing wrong."""
    head = summary(Fingerprint({"cpu.level": ok("x86-64-v3")}), verbose=False)[0]

    assert head == (
        "captured (implementation not known) (version not known) on (system not known)"
        " (architecture not known): 1 facts, 0 of them distributions"
    )
