"""Edits of the healthy programs: benign twins, and faults with their truth.

The truth of a fault is what was planted: the categories by which it may rightly be called, and
the line of the edited program where it stands (several where the fault is spread over lines).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PROGRAMS", "Edit", "edited", "faults", "lines_of", "program_text", "programs", "twins"]

PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass(frozen=True)
class Edit:
    """One edit of one program: texts to replace, each of which occurs exactly once."""

    program: str
    name: str
    replace: tuple[tuple[str, str], ...]
    categories: tuple[str, ...] = ()
    """What the fault may be called; empty for a benign twin."""
    marks: tuple[str, ...] = ()
    """Texts whose lines in the edited program are the place of the fault; empty: no line."""

    @property
    def title(self) -> str:
        """The program and the edit."""
        return f"{self.program}: {self.name}"


def faults() -> list[Edit]:
    """Return the planted faults."""
    return _edits("faults.toml")


def twins() -> list[Edit]:
    """Return the benign twins."""
    return _edits("twins.toml")


def _edits(name: str) -> list[Edit]:
    data = tomllib.loads(PROGRAMS.with_name(name).read_text(encoding="utf-8"))
    return [
        Edit(
            item["program"],
            item["name"],
            tuple((change["old"], change["new"]) for change in item["replace"]),
            tuple(item.get("categories", ())),
            tuple(item.get("marks", ())),
        )
        for item in data["edit"]
    ]


def programs() -> list[str]:
    """Return the names of the healthy programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def program_text(name: str) -> str:
    """Return the text of a healthy program."""
    return (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")


def edited(edit: Edit) -> str:
    """Return the text of an edited program; raises ValueError where an edit does not fit."""
    text = program_text(edit.program)
    for old, new in edit.replace:
        if text.count(old) != 1:
            raise ValueError(f"{edit.title}: {old!r} occurs {text.count(old)} times")
        text = text.replace(old, new)
    return text


def lines_of(edit: Edit) -> tuple[int, ...]:
    """Return the lines (from 1) of an edited program where its fault stands."""
    found = []
    lines = edited(edit).splitlines()
    for mark in edit.marks:
        at = [number for number, line in enumerate(lines, 1) if mark in line]
        if not at:
            raise ValueError(f"{edit.title}: no line has {mark!r}")
        found += at
    return tuple(found)
