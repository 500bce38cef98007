"""Follow the opcodes of a pickle without doing what they say.

Stack, marks and memo are kept as an unpickler would keep them, so that names which STACK_GLOBAL
takes from the memo are found too, and a joblib array's raw bytes, which lie between two
opcodes, are passed over by their exact length.
"""

from __future__ import annotations

from envcheck.artefacts.joblib_array import array_bytes, is_wrapper
from envcheck.artefacts.pickle_findings import Findings
from envcheck.artefacts.pickle_machine import Machine
from envcheck.artefacts.pickle_opcodes import STEPS
from envcheck.artefacts.pickle_tokens import Built
from envcheck.artefacts.reading import Unreadable
from envcheck.artefacts.streams import Stream, TooLong

__all__ = ["Budget", "scan"]

MOST_OPCODES = 5_000_000
_DEEPEST_STACK = 1_000_000
_STOP, _BUILD = 0x2E, 0x62


class Budget:
    """Opcodes still allowed, over all pickles of one file."""

    def __init__(self) -> None:
        self.left = MOST_OPCODES


def scan(stream: Stream, findings: Findings, budget: Budget, *, in_array: bool = False) -> None:
    """Follow one pickle up to its STOP; `in_array` for the pickle that is a joblib array.

    Raises Unreadable where the bytes are no pickle, TooLong where there is too much of it.
    """
    machine = Machine(stream, findings)
    while True:
        code = stream.byte()
        if code == _STOP:
            machine.pop()
            return
        step = STEPS[code]
        if step is None:
            raise Unreadable(f"byte {stream.position - 1} ({code:#04x}) is no pickle opcode")
        step(machine)
        if code == _BUILD and not in_array:
            _pass_array(machine, budget)
        budget.left -= 1
        if budget.left < 0:
            raise TooLong(f"only the first {MOST_OPCODES} opcodes were looked at")
        if len(machine.stack) > _DEEPEST_STACK or len(machine.marks) > _DEEPEST_STACK:
            raise TooLong(f"a value has more than {_DEEPEST_STACK} parts")


def _pass_array(machine: Machine, budget: Budget) -> None:
    """Pass over the array that follows the wrapper which was just built, if one was."""
    built = machine.top()
    if not isinstance(built, Built) or not is_wrapper(built.cls):
        return
    count = array_bytes(built.state, machine.stream)
    if count is None:
        scan(machine.stream, machine.findings, budget, in_array=True)
    else:
        machine.stream.skip(count)
