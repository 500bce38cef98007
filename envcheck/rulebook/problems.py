"""Mistakes in rule files, collected so that one run shows them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from envcheck.errors import RuleError

__all__ = ["Problem", "Problems", "Report"]


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One mistake: where, what, and what to do about it; line 0 means the whole file."""

    file: str
    line: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        """Return `file:line: message`, then the hint."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


class Report(Protocol):
    """Notes a mistake in the file at hand."""

    def __call__(self, line: int, message: str, hint: str = "") -> None:
        """Note one mistake."""


class Problems:
    """The mistakes found so far."""

    def __init__(self) -> None:
        self._found: set[Problem] = set()

    def add(self, file: str, line: int, message: str, hint: str = "") -> None:
        """Note a mistake."""
        self._found.add(Problem(file, line, message, hint))

    def in_file(self, file: str) -> Report:
        """Return a function that notes mistakes in `file`."""

        def report(line: int, message: str, hint: str = "") -> None:
            self.add(file, line, message, hint)

        return report

    def sorted(self) -> list[Problem]:
        """Return all mistakes by file and line."""
        return sorted(self._found)

    def raise_if_any(self) -> None:
        """Raise one RuleError that shows every mistake."""
        found = self.sorted()
        if len(found) == 1:
            only = found[0]
            place = f"{only.file}:{only.line}" if only.line else only.file
            raise RuleError(only.message, place=place, hint=only.hint)
        if found:
            listed = "\n".join(str(problem) for problem in found)
            raise RuleError(f"{len(found)} mistakes in the rules\n{listed}")
