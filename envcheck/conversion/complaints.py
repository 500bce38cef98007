"""What the converter logged: operators that it could not convert, passes that failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Complaint", "read_log"]

_UNSUPPORTED = re.compile(r"[Oo]p \[?(?P<node>[^\s:\]]+):? ?(?P<op>\w+)?\]? is not supported")
_FAILED = re.compile(r"Failed to convert node '?(?P<node>[^'\s]+)'?")
_COUNTER = re.compile(r"Unsupported ops: Counter\(\{(?P<ops>[^}]*)\}\)")
_PASS = re.compile(r"Failed to apply (?P<node>\S+)")


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """One complaint: its kind (unsupported, failed, pass), the operator and node where named."""

    kind: str
    op: str = ""
    node: str = ""
    text: str = ""


def read_log(lines: Iterable[str]) -> list[Complaint]:
    """Return the complaints in a converter's log, each once."""
    found: dict[tuple[str, str, str], Complaint] = {}
    for line in lines:
        for complaint in _read_line(line.strip()):
            found.setdefault((complaint.kind, complaint.op, complaint.node), complaint)
    return list(found.values())


def _read_line(line: str) -> list[Complaint]:
    text = line[:300]
    seen = _UNSUPPORTED.search(line)
    if seen:
        return [Complaint(kind="unsupported", op=seen["op"] or "", node=seen["node"], text=text)]
    seen = _COUNTER.search(line)
    if seen:
        ops = re.findall(r"'([^']+)'", seen["ops"])
        return [Complaint(kind="unsupported", op=op, text=text) for op in ops]
    seen = _FAILED.search(line)
    if seen:
        return [Complaint(kind="failed", node=seen["node"], text=text)]
    seen = _PASS.search(line)
    if seen:
        return [Complaint(kind="pass", node=seen["node"], text=text)]
    return []
