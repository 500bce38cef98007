"""Termination messages, log lines, settings and seals, as functions."""

from __future__ import annotations

import json
import signal
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import envcheck
from envcheck.errors import UsageError
from envcheck.facts import not_applicable, ok, unknown
from envcheck.fingerprint import Fingerprint
from envcheck.startup.budget import Budget, OutOfTime
from envcheck.startup.journal import Journal
from envcheck.startup.policy import POLICIES, exit_code
from envcheck.startup.seal import differences
from envcheck.startup.settings import make_settings
from envcheck.startup.termination import LIMIT, message


@given(st.text(max_size=3000), st.lists(st.text(max_size=700), max_size=40))
def test_a_message_has_its_limit(head: str, lines: list[str]) -> None:
    """Whatever stands in it, a message has at most 1,000 bytes of ASCII and its last line."""
    text = message(head, lines, "see the log")

    assert len(text) <= LIMIT
    assert text.isascii()
    assert text.endswith(b"\nsee the log")
    assert b"\x1b" not in text


def test_a_message_says_how_much_was_left_out() -> None:
    """Lines that do not fit are counted."""
    text = message("head", ["x" * 200] * 30, "foot").decode()

    assert text.splitlines()[-2] == f"and {30 - text.count('x' * 200)} more"


@given(st.dictionaries(st.sampled_from(["a", "b"]), st.text() | st.lists(st.text())))
def test_a_log_line_is_one_line(fields: dict[str, object]) -> None:
    """No value breaks out of its line, and each line is JSON."""
    lines: list[str] = []
    Journal(lines.append).write("info", "event", **fields)

    (line,) = lines
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["event"] == "event"


def test_quiet_keeps_warnings() -> None:
    """`-q` leaves out what is of level info and nothing else."""
    lines: list[str] = []
    journal = Journal(lines.append, quiet=True)
    for level in ("info", "warning", "error"):
        journal.write(level, "event")

    assert [json.loads(line)["level"] for line in lines] == ["warning", "error"]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_policies(code: int) -> None:
    """`closed` changes nothing, `warn` lets findings pass, `open` everything."""
    assert [exit_code(policy, code) for policy in POLICIES] == [code, code if code > 1 else 0, 0]


def test_the_variable_comes_before_the_option_for_the_policy_alone() -> None:
    """Whoever deploys decides; loosening is told apart from tightening."""
    options = {"policy": "warn", "train": "mine.json"}
    environ = {"ENVCHECK_POLICY": "open", "ENVCHECK_TRAIN": "other.json"}
    loose = make_settings(options, environ)
    tight = make_settings(options, {"ENVCHECK_POLICY": "closed"})

    assert (loose.policy, loose.loosened_from, loose.train) == ("open", "warn", "mine.json")
    assert (tight.policy, tight.loosened_from) == ("closed", "")
    assert make_settings({}, {"ENVCHECK_BUDGET": "2s"}).budget == 2.0
    for wrong in ({"ENVCHECK_POLICY": "opne"}, {"ENVCHECK_BUDGET": "soon"}):
        with pytest.raises(UsageError):
            make_settings({}, wrong)


def test_differences() -> None:
    """Values and states count; the reason why something is unknown does not."""
    old = {"os.system": ok("linux"), "gpu.driver": unknown("a"), "cpu.model": ok("x")}
    same = {"os.system": ok("linux"), "gpu.driver": unknown("b"), "cpu.model": ok("y")}
    new = {"os.system": not_applicable(), "gpu.driver": unknown("a"), "env.TZ": ok("UTC")}

    assert differences(old, same) == []
    assert [item.key for item in differences(old, new)] == ["env.TZ", "os.system"]


def test_a_budget_in_another_thread() -> None:
    """Where no timer can be set the work runs to its end."""
    results: list[int] = []
    worker = threading.Thread(target=lambda: results.append(Budget(5).within(lambda: 7)))
    worker.start()
    worker.join()

    assert results == [7]


def test_a_budget_inside_another() -> None:
    """The inner one ends first and the outer one still ends; the program's own timer goes on."""
    rang: list[float] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.6)
    start = time.monotonic()

    def work() -> None:
        with pytest.raises(OutOfTime):
            Budget(0.1).within(lambda: time.sleep(30))
        time.sleep(30)

    try:
        with pytest.raises(OutOfTime):
            Budget(0.3).within(work)
        assert time.monotonic() - start < 5
        assert rang == []
        time.sleep(max(0.0, 0.7 - (time.monotonic() - start)))
        assert len(rang) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_budget_that_is_swallowed_rings_again() -> None:
    """Code that catches everything, once, does not get all the time there is."""

    def stubborn() -> None:
        try:
            time.sleep(30)
        except BaseException:  # noqa: BLE001 - that is what is tested
            time.sleep(30)

    start = time.monotonic()
    with pytest.raises(OutOfTime):
        Budget(0.1).within(stubborn)
    assert time.monotonic() - start < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_parts_come_to_one_exit_code() -> None:
    """A finding that `warn` lets pass does not let a check pass that could not be done."""
    assert [exit_code(policy, 1, 3) for policy in POLICIES] == [1, 3, 0]
    assert [exit_code(policy, 1, 2) for policy in POLICIES] == [2, 2, 0]
    assert [exit_code(policy) for policy in POLICIES] == [0, 0, 0]


def test_the_function() -> None:
    """`envcheck.selftest()` returns the result, writes nothing and raises for wrong calls only."""
    here = envcheck.capture(role="train")
    assert isinstance(here, Fingerprint)
    result = envcheck.selftest("no-such-file.json")

    assert (result.code, result.verdict, result.exit_code) == (2, "failed", 2)
    assert envcheck.selftest("no-such-file.json", policy="open").exit_code == 0
    with pytest.raises(UsageError):
        envcheck.selftest("train.json", policy="shut")
