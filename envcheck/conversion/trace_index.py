"""Check the index of a trace, which may come from anywhere, before anything relies on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envcheck.conversion.calls import INPUT
from envcheck.errors import InputError

__all__ = ["check_index"]

_Test = Callable[[Any], bool]
_DTYPES = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64", "complex64", "complex128")
)  # fmt: skip
_MOST_ELEMENTS = 1 << 40


def check_index(index: dict[str, Any], place: str) -> None:
    """Raise InputError, naming the entry, for an index that no trace has."""
    for name in ("runtime", "environment"):
        if not isinstance(index.get(name, {}), dict):
            raise InputError(f"its index holds a {name} that is none", place=place)
    entries = index.get("entries")
    if not isinstance(entries, list):
        raise InputError("its index lists no entries", place=place)
    ports: set[tuple[int, int]] = set()
    keys: set[str] = set()
    for number, entry in enumerate(entries):
        problem = _problem(entry, ports, keys)
        if problem:
            raise InputError(f"entry {number} of its index {problem}", place=place)


def _problem(entry: Any, ports: set[tuple[int, int]], keys: set[str]) -> str:
    """Return what is wrong with an entry, given the ports and keys of those before it."""
    if not isinstance(entry, dict):
        return "is no object"
    for name, (test, words) in _MEMBERS.items():
        if name in entry and not test(entry[name]):
            return f"has a {name} that is not {words}"
        if name not in entry and name in _REQUIRED:
            return f"lacks a {name}"
    key = entry["key"]
    if key is not None and (key in keys or entry["dtype"] not in _DTYPES):
        return "repeats a key" if key in keys else f"has dtype {entry['dtype'][:40]!r}"
    keys.add(key)
    return _call_problem(entry, ports) if "call" in entry else ""


def _call_problem(entry: dict[str, Any], ports: set[tuple[int, int]]) -> str:
    if "index" not in entry:
        return "lacks an index"
    port = (entry["call"], entry["index"])
    if port in ports:
        return "repeats an output of a call"
    ports.add(port)
    if any(source >= max(entry["call"], 0) for source, _ in entry.get("reads", [])):
        return "reads a call that comes after it"
    return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_shape(value: Any) -> bool:
    if not isinstance(value, list) or len(value) > 64 or not all(map(_is_count, value)):
        return False
    product = 1
    for size in value:
        product *= max(size, 1)
    return product <= _MOST_ELEMENTS


def _is_call(value: Any) -> bool:
    return value == INPUT or _is_count(value)


def _is_port(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and _is_call(value[0]) and _is_count(value[1])
    )


_COUNT: tuple[_Test, str] = (_is_count, "a number from 0")
_TEXT: tuple[_Test, str] = (_is_text, "a text")
_REQUIRED = frozenset(("key", "order", "name", "op", "shape", "dtype"))
_MEMBERS: dict[str, tuple[_Test, str]] = {
    "key": (lambda v: v is None or (_is_text(v) and v.isascii() and v.isdigit()), "of digits"),
    "order": _COUNT,
    "name": _TEXT,
    "op": _TEXT,
    "shape": (_is_shape, "a list of sizes"),
    "dtype": _TEXT,
    "kind": (lambda v: v in ("input", "call", "tensor"), "input, call or tensor"),
    "layer": _TEXT,
    "call": (_is_call, "the number of a call"),
    "index": _COUNT,
    "number": _COUNT,
    "reads": (lambda v: isinstance(v, list) and all(map(_is_port, v)), "a list of calls"),
    "output": (lambda v: v is None or _is_count(v), "the number of an output"),
    "weighted": (lambda v: isinstance(v, bool), "true or false"),
    "node": _TEXT,
}
