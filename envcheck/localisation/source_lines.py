"""The source line of a call and of each argument in it, from the frames that made the call.

The value of an argument is followed to where it is written: through constants, dicts, loops and
the helper functions of the program, one frame up for each. Nothing is run and nothing is
imported; a file without source, or in a syntax that this Python cannot read, gives None.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from envcheck.localisation.source_following import Follower, Spot
from envcheck.localisation.source_literals import UNKNOWN
from envcheck.localisation.source_signatures import positional_parameters
from envcheck.localisation.source_trees import Frame, Source, callee_name, read_source

__all__ = ["UNKNOWN", "Frame", "Hints", "Site", "SourceLines"]

Site = dict[str, Any]
"""A place as a training log has it: file, line and column from 1, the line's text, default."""

_LENGTH = 120


@dataclass(frozen=True)
class Hints:
    """What is known about an argument beside its name.

    `positional` are the parameters that the callee takes by position, in order; without them
    those of Keras's own classes are known by name. `callee` is the name of what is called, for
    frames without columns. `value` is what was really passed and decides between several places.
    `follow` goes on from a name to what it is bound to. `within` leads on into a dict: the output
    of a loss. `through` names the argument that holds the call to look at in its place: the layer
    of a wrapper.
    """

    positional: Sequence[str] = ()
    callee: str | None = None
    value: Any = UNKNOWN
    follow: bool = True
    within: Sequence[str | None] = ()
    through: str | None = None


class SourceLines:
    """Finds lines; reads each file once.

    `root` is the folder that file names are relative to; `clean` takes out of a line's text what
    is not to be shown.
    """

    def __init__(self, root: str | None = None, clean: Callable[[str], str] | None = None) -> None:
        self._root = root
        self._clean = clean
        self._sources: dict[str, Source | None] = {}
        self._names: dict[str, str] = {}

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
        self, frames: Sequence[Frame], keyword: str, hints: Hints | None = None
    ) -> Site | None:
        """Return where the value of an argument of the innermost frame's call is written.

        An argument that is not written gives the call with `default` true. None when there is no
        source.
        """
        hints = hints or Hints()
        try:
            follower = Follower(frames, self._read)
            spot = follower.call_at(0, hints.callee)
            if spot is not None and hints.through is not None:
                spot = follower.call_in(spot, hints.through)
            return None if spot is None else self._argument(follower, spot, keyword, hints)
        except (RecursionError, MemoryError):
            return None

    def _argument(self, follower: Follower, spot: Spot, keyword: str, hints: Hints) -> Site:
        named = callee_name(spot.node) if isinstance(spot.node, ast.Call) else None
        known = (
            hints.positional or positional_parameters(hints.callee) or positional_parameters(named)
        )
        found = follower.argument(spot, keyword, known)
        if isinstance(found, Spot):
            for key in hints.within:
                found = follower.item(found, key)
            return self._of(follower.resolve(found, hints.value) if hints.follow else found)
        call = self._of(spot) if hints.through else self._of_call(follower.frames[0], spot)
        return {**call, "default": found is None}

    def only_call(self, frames: Sequence[Frame], callee: str, keyword: str) -> Site | None:
        """Return an argument of the only call of a name in the innermost frame's file.

        None where there are several such calls or none, or where the argument is not written.
        """
        try:
            source = self._read(frames[0].file) if frames else None
            calls = [] if source is None else source.calls
            named = [node for node in calls if callee_name(node) == callee]
            if source is None or len(named) != 1:
                return None
            follower = Follower(frames, self._read)
            found = follower.argument(Spot(source, named[0], 0), keyword, ())
            return self._of(follower.resolve(found, UNKNOWN)) if isinstance(found, Spot) else None
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
        text = "" if source is None else source.text_of(line).strip()
        text = (self._clean(text) if self._clean else text)[:_LENGTH]
        name = self._name(file)
        return {"file": name, "line": line, "column": column, "text": text, "default": False}

    def _name(self, file: str) -> str:
        """Return the name of a file relative to the root, or its last part from elsewhere."""
        if file not in self._names:
            relative = file if file.startswith("<") else os.path.relpath(file, self._root)
            outside = relative.startswith("..")
            self._names[file] = os.path.basename(file) if outside else relative
        return self._names[file]
