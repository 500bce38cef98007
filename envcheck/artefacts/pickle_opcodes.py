"""The opcodes of pickle protocols 0 to 5, as far as stack, marks, memo and names go."""

from __future__ import annotations

from typing import Any, Callable

from envcheck.artefacts.pickle_machine import Machine
from envcheck.artefacts.pickle_tokens import LONGEST_TEXT, Built
from envcheck.artefacts.reading import Unreadable

__all__ = ["STEPS", "Step"]

Step = Callable[[Machine], object]


def _integer_line(machine: Machine) -> None:
    text = (machine.line() or "").rstrip("L")
    short = len(text) < 20 and text.lstrip("-").isascii() and text.lstrip("-").isdigit()
    machine.push(int(text) if short else None)


def _string_line(machine: Machine) -> None:
    text = machine.line()
    quoted = text is not None and len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    if text is not None and not quoted:
        raise Unreadable("a string of the pickle has no quotes")
    machine.push(text[1:-1] if text and len(text) <= LONGEST_TEXT and "\\" not in text else None)


def _unicode_line(machine: Machine) -> None:
    text = machine.line()
    machine.push(text if text and len(text) <= LONGEST_TEXT and "\\" not in text else None)


def _pass_line(machine: Machine) -> None:
    machine.line()
    machine.push(None)


def _global_lines(machine: Machine) -> None:
    module = machine.line()
    machine.push(machine.refer(module, machine.line()))


def _instance(machine: Machine) -> None:
    module = machine.line()
    cls = machine.refer(module, machine.line())
    machine.call(cls, tuple(machine.pop_mark()[:16]))


def _object(machine: Machine) -> None:
    items = machine.pop_mark()
    if not items:
        raise Unreadable("an object of the pickle has no class")
    machine.call(items[0], tuple(items[1:17]))


def _stack_global(machine: Machine) -> None:
    name = machine.pop()
    machine.push(machine.refer(machine.pop(), name))


def _reduce(machine: Machine) -> None:
    args = machine.pop()
    machine.call(machine.pop(), args)


def _new_object_ex(machine: Machine) -> None:
    machine.pop()
    _reduce(machine)


def _signed(machine: Machine) -> None:
    machine.push(int.from_bytes(machine.stream.take(4), "little", signed=True))


def _extension(width: int) -> Step:
    def step(machine: Machine) -> None:
        machine.stream.skip(width)
        machine.findings.unresolved += 1
        machine.push(None)

    return step


def _tuple(machine: Machine) -> None:
    items = machine.pop_mark()
    machine.push(tuple(items) if len(items) <= 64 else None)


def _short_tuple(count: int) -> Step:
    def step(machine: Machine) -> None:
        items = [machine.pop() for _ in range(count)]
        machine.push(tuple(reversed(items)))

    return step


def _set_item(machine: Machine) -> None:
    value = machine.pop()
    key = machine.pop()
    machine.pairs(machine.top(), [key, value])


def _set_items(machine: Machine) -> None:
    items = machine.pop_mark()
    machine.pairs(machine.top(), items)


def _dictionary(machine: Machine) -> None:
    items = machine.pop_mark()
    target = machine.mapping()
    machine.pairs(target, items)
    machine.push(target)


def _collect(machine: Machine) -> None:
    machine.pop_mark()
    machine.push(None)


def _pop(machine: Machine) -> None:
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


def _duplicate(machine: Machine) -> None:
    token = machine.pop()
    machine.stack += [token, token]


def _build(machine: Machine) -> None:
    state = machine.pop()
    target = machine.top()
    if isinstance(target, Built):
        target.state = state


def _persistent(machine: Machine) -> None:
    machine.pop()
    machine.push(None)


def _put(machine: Machine, index: int) -> None:
    if not machine.stack:
        raise Unreadable("the pickle stores a value that it does not have")
    machine.memo.put(index, machine.stack[-1])


def _binary_put(machine: Machine, width: int) -> None:
    """Store a value, in the way of protocol 1 and up, which has no opcode to say so itself."""
    machine.findings.protocol = max(machine.findings.protocol, 1)
    _put(machine, machine.stream.number(width))


def _line_index(machine: Machine) -> int:
    text = machine.line() or ""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise Unreadable("the pickle names a value by something that is no number")
    return int(text)


def _memoize(machine: Machine) -> None:
    if not machine.stack:
        raise Unreadable("the pickle stores a value that it does not have")
    machine.memo.add(machine.stack[-1])


def _protocol(machine: Machine) -> None:
    version = machine.stream.byte()
    if version > 5:
        raise Unreadable(f"pickle protocol {version} does not exist")
    machine.findings.protocol = max(machine.findings.protocol, version)


def _constant(value: Any) -> Step:
    return lambda machine: machine.push(value)


def _sized(width: int, *, text: bool) -> Step:
    """Return the step of a value that follows its length."""
    if text:
        return lambda machine: machine.text(machine.stream.number(width))
    return lambda machine: machine.skip(machine.stream.number(width))


_BY_CODE: dict[bytes, Step] = {
    b"(": lambda machine: machine.marks.append(len(machine.stack)),
    b"0": _pop, b"1": lambda machine: machine.pop_mark(), b"2": _duplicate,
    b"F": _pass_line, b"I": _integer_line, b"L": _integer_line, b"P": _pass_line,
    b"S": _string_line, b"V": _unicode_line, b"c": _global_lines, b"i": _instance,
    b"J": _signed, b"K": lambda machine: machine.push(machine.stream.byte()),
    b"M": lambda machine: machine.push(machine.stream.number(2)),
    b"G": lambda machine: machine.skip(8), b"N": _constant(None),
    b"\x88": _constant(True), b"\x89": _constant(False),
    b"\x8a": _sized(1, text=False), b"\x8b": _sized(4, text=False),
    b"T": _sized(4, text=True), b"U": _sized(1, text=True), b"X": _sized(4, text=True),
    b"\x8c": _sized(1, text=True), b"\x8d": _sized(8, text=True),
    b"B": _sized(4, text=False), b"C": _sized(1, text=False), b"\x8e": _sized(8, text=False),
    b"\x96": _sized(8, text=False), b"\x97": _constant(None),
    b"\x98": lambda machine: machine.top(),
    b"Q": _persistent, b"\x82": _extension(1), b"\x83": _extension(2), b"\x84": _extension(4),
    b"}": lambda machine: machine.push(machine.mapping()), b"]": _constant(None),
    b")": _constant(()), b"\x8f": _constant(None), b"a": lambda machine: machine.pop(),
    b"e": lambda machine: machine.pop_mark(), b"s": _set_item, b"u": _set_items,
    b"\x90": lambda machine: machine.pop_mark(), b"b": _build,
    b"d": _dictionary, b"l": _collect, b"\x91": _collect, b"t": _tuple,
    b"\x85": _short_tuple(1), b"\x86": _short_tuple(2), b"\x87": _short_tuple(3),
    b"o": _object, b"R": _reduce, b"\x81": _reduce, b"\x92": _new_object_ex,
    b"\x93": _stack_global,
    b"p": lambda machine: _put(machine, _line_index(machine)),
    b"q": lambda machine: _binary_put(machine, 1), b"r": lambda machine: _binary_put(machine, 4),
    b"\x94": _memoize,
    b"g": lambda machine: machine.push(machine.memo.get(_line_index(machine))),
    b"h": lambda machine: machine.push(machine.memo.get(machine.stream.byte())),
    b"j": lambda machine: machine.push(machine.memo.get(machine.stream.number(4))),
    b"\x80": _protocol, b"\x95": lambda machine: machine.stream.take(8),
}  # fmt: skip
STEPS: list[Step | None] = [_BY_CODE.get(bytes((code,))) for code in range(256)]
"""What each opcode does to the machine, by its number; None where there is no such opcode."""
