"""Run small programs whose calls are noted with the frames that led to them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from envcheck.localisation.recording.stack import look
from envcheck.localisation.source_lines import Frame, Hints, Site, SourceLines

__all__ = ["Program"]


class _Noted:
    """Stands for a class of layers, or for a method such as `compile`."""

    def __init__(self, frames: list[list[Frame]]) -> None:
        self._frames = frames

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._frames.append(look(sys._getframe(1), None).frames)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class Program:
    """A program that was run: `L`, `Dense`, `Activation`, `SGD` and `model` are noted calls."""

    def __init__(self, folder: Path, text: str, name: str = "train.py") -> None:
        self.file = folder / name
        self.file.write_text(text, encoding="utf-8")
        self.frames: list[list[Frame]] = []
        self.lines = SourceLines(str(folder))
        noted = _Noted(self.frames)
        names = dict.fromkeys(("L", "Dense", "Activation", "SGD", "model", "Dropout"), noted)
        space: dict[str, Any] = {"__name__": "program", **names}
        exec(compile(text, str(self.file), "exec"), space)

    def argument(self, keyword: str, call: int = 0, **hints: Any) -> Site | None:
        """Return where an argument of the call of that number is written."""
        return self.lines.argument(self.frames[call], keyword, Hints(**hints))

    def place(self, keyword: str, call: int = 0, **hints: Any) -> tuple[int, int | None, bool]:
        """Return line, column and whether the default is in force."""
        site = self.argument(keyword, call, **hints)
        assert site is not None
        return site["line"], site["column"], site["default"]
