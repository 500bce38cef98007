"""The state of an unpickler: stack, marks and memo, with tokens in place of values."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.joblib_array import is_wrapper
from envcheck.artefacts.pickle_findings import Findings
from envcheck.artefacts.pickle_tokens import LONGEST_TEXT, Built, Global, Memo, is_from
from envcheck.artefacts.reading import Unreadable
from envcheck.artefacts.streams import Stream

__all__ = ["Machine"]

_LONGEST_LINE = 1 << 10
_MOST_KEYS = 32


class Machine:
    """What one pickle has made so far. Nothing is imported or called."""

    def __init__(self, stream: Stream, findings: Findings) -> None:
        self.stream = stream
        self.findings = findings
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo = Memo()

    def push(self, token: Any) -> None:
        """Put a token on the stack."""
        self.stack.append(token)

    def pop(self) -> Any:
        """Take the last token, which must not lie below the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise Unreadable(f"opcode at byte {self.stream.position - 1} finds no value to use")
        return self.stack.pop()

    def top(self) -> Any:
        """Return the last token without taking it."""
        return self.stack[-1] if self.stack else None

    def pop_mark(self) -> list[Any]:
        """Take the last mark and return the tokens above it."""
        if not self.marks:
            raise Unreadable(f"opcode at byte {self.stream.position - 1} finds no mark")
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def text(self, count: int) -> None:
        """Push a string of that many bytes."""
        if count > LONGEST_TEXT * 4:
            self.stream.skip(count)
            self.push(None)
            return
        data = self.stream.take(count)
        text = data.decode("utf-8", "replace")
        self.push(text if len(text) <= LONGEST_TEXT else None)

    def skip(self, count: int) -> None:
        """Push a value of no interest, of that many bytes."""
        self.stream.skip(count)
        self.push(None)

    def line(self) -> str | None:
        """Return the next line, or None where it is too long to be a name."""
        data = self.stream.line(_LONGEST_LINE)
        return None if data is None else data.decode("utf-8", "replace")

    def refer(self, module: Any, name: Any) -> Any:
        """Return the token of a global, and note it."""
        if isinstance(module, str) and isinstance(name, str):
            return self.findings.add_global(module, name)
        self.findings.unresolved += 1
        return None

    def pairs(self, target: Any, items: list[Any]) -> None:
        """Take the keys and values in that are put into a dictionary."""
        if len(items) % 2:
            raise Unreadable(f"opcode at byte {self.stream.position - 1} finds half a pair")
        for index in range(0, len(items), 2):
            key, value = items[index], items[index + 1]
            if isinstance(key, str):
                self.findings.add_pair(key, value)
                if isinstance(target, dict) and len(target) < _MOST_KEYS:
                    target[key] = value

    def call(self, function: Any, args: Any) -> None:
        """Push what calling a global would give."""
        if is_from(function, "copyreg", "_reconstructor") and isinstance(args, tuple) and args:
            function, args = args[0], None
        if isinstance(function, Global):
            self.findings.add_call(function, args)
            wanted = is_wrapper(function) or is_from(function, "numpy", "dtype")
            self.push(Built(function, args) if wanted else None)
        else:
            self.push(None)

    def mapping(self) -> Any:
        """Return a token for a new dictionary; only the state of an array is of interest."""
        top = self.top()
        return {} if isinstance(top, Built) and is_wrapper(top.cls) else None
