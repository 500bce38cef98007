"""The source line of a call and of each argument in it, from the frames that made the call.

The value of an argument is followed to where it is written: through constants, dicts, loops and
the helper functions of the program, one frame up for each. Nothing is run and nothing is
imported; a file without source, or in a syntax that this Python cannot read, gives None.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from envcheck.localisation.source_following import UNKNOWN, Follower, Spot
from envcheck.localisation.source_signatures import positional_parameters
from envcheck.localisation.source_trees import Frame, Source, callee_name, read_source

__all__ = ["UNKNOWN", "Frame", "Site", "SourceLines"]

Site = dict[str, Any]
"""A place as a training log has it: file, line and column from 1, the line's text, default."""

_LENGTH = 120


class SourceLines:
    """Finds lines; reads each file once. `root` is the folder that file names are relative to."""

    def __init__(self, root: str | None = None) -> None:
        self._root = root
        self._sources: dict[str, Source | None] = {}

    def line(self, file: str, line: int) -> Site:
        """Return a line of a file without a column."""
        return self._site(self._read(file), file, line, None)

    def call(self, frames: Sequence[Frame], callee: str | None = None) -> Site | None:
        """Return where the innermost frame makes its call, or None without frames."""
        if not frames:
            return None
        try:
            spot = Follower(frames, self._read).call_at(0, callee)
            return self._of_call(frames[0], spot)
        except (RecursionError, MemoryError):
            return self.line(frames[0].file, frames[0].line)

    def frame(self, frame: Frame) -> Site:
        """Return the line of one frame."""
        source = self._read(frame.file)
        column = None
        if source is not None and frame.column is not None:
            column = source.column_of(frame.line, frame.column)
        return self._site(source, frame.file, frame.line, column)

    def argument(
        self,
        frames: Sequence[Frame],
        keyword: str,
        *,
        positional: Sequence[str] | None = None,
        callee: str | None = None,
        follow: bool = True,
        value: Any = UNKNOWN,
    ) -> Site | None:
        """Return where the value of an argument of the innermost frame's call is written.

        `positional` are the parameters that the callee takes by position, in order; without
        them those of Keras's own classes are known by name. `callee` is the name of what is
        called, for frames without columns. `follow` goes on from a name to what it is bound to;
        `value` is what was really passed and decides between several. An argument that is not
        written gives the call with `default` true. None when there is no source.
        """
        try:
            follower = Follower(frames, self._read)
            spot = follower.call_at(0, callee)
            if spot is None:
                return None
            known = positional or positional_parameters(callee) or positional_parameters(
                callee_name(spot.node)  # type: ignore[arg-type]
            )
            found = follower.argument(spot, keyword, known)
            if isinstance(found, Spot):
                return self._of(follower.resolve(found, value) if follow else found)
            site = self._of_call(frames[0], spot)
            return {**site, "default": found is None}
        except (RecursionError, MemoryError):
            return None

    def _read(self, file: str) -> Source | None:
        if file not in self._sources:
            self._sources[file] = read_source(file)
        return self._sources[file]

    def _of_call(self, frame: Frame, spot: Spot | None) -> Site:
        if spot is None:
            return self.frame(frame)
        node: Any = spot.node
        if node.lineno != frame.line:
            return self.frame(frame)
        return self._of(spot)

    def _of(self, spot: Spot) -> Site:
        node: Any = spot.node
        column = spot.source.column_of(node.lineno, node.col_offset)
        return self._site(spot.source, spot.source.file, node.lineno, column)

    def _site(self, source: Source | None, file: str, line: int, column: int | None) -> Site:
        text = "" if source is None else source.text_of(line).strip()[:_LENGTH]
        name = self._name(file)
        return {"file": name, "line": line, "column": column, "text": text, "default": False}

    def _name(self, file: str) -> str:
        """Return the name of a file relative to the root, or its last part from elsewhere."""
        if file.startswith("<"):
            return file
        relative = os.path.relpath(file, self._root)
        return os.path.basename(file) if relative.startswith("..") else relative
