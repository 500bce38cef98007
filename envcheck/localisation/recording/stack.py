"""The frames of the program on the stack, told apart from those of libraries."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass, replace
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from envcheck.localisation.source_lines import Frame

__all__ = ["Origin", "is_user_file", "look"]

_DEEPEST = 12
_LOADING = frozenset({"load_model", "load_weights"})
_known: dict[str, bool] = {}


@dataclass(frozen=True)
class Origin:
    """Where an object was made: frames of the program as code and place, the innermost first.

    `direct` is false where a library made the object on behalf of the program; `loaded` is true
    where it came out of a file. `original` is what it is a clone of.
    """

    points: tuple[tuple[CodeType, int], ...]
    direct: bool
    loaded: bool
    original: Any = None

    @cached_property
    def frames(self) -> list[Frame]:
        """The frames with their lines and columns, the innermost first."""
        return [_frame(code, place) for code, place in self.points]

    def without_original(self) -> Origin:
        """Return the origin as one of its own."""
        return replace(self, original=None)


def look(frame: FrameType | None, made: Any, limit: int = _DEEPEST) -> Origin:
    """Return the origin of an object that is being made by a frame."""
    points: list[tuple[CodeType, int]] = []
    direct, loaded, original = True, False, None
    while frame is not None and len(points) < limit:
        code = frame.f_code
        if is_user_file(code.co_filename):
            if not _is_constructor_of(frame, made):
                points.append((code, frame.f_lasti))
        elif not points and not _is_own(code):
            direct = direct and _makes(frame, made)
            loaded = loaded or code.co_name in _LOADING
            if code.co_name == "_clone_layer":
                original = frame.f_locals.get("layer")
        frame = frame.f_back
    return Origin(tuple(points), direct, loaded, original)


def _is_constructor_of(frame: FrameType, made: Any) -> bool:
    """Return whether a frame is the `__init__` of the very object that is being made."""
    code = frame.f_code
    if made is None or code.co_name != "__init__" or not code.co_argcount:
        return False
    return frame.f_locals.get(code.co_varnames[0]) is made


def _makes(frame: FrameType, made: Any) -> bool:
    """Return whether a library's frame is a constructor of the object itself."""
    name = frame.f_code.co_name
    return name == "__new__" or _is_constructor_of(frame, made)


def _frame(code: CodeType, place: int) -> Frame:
    found = next(itertools.islice(code.co_positions(), place // 2, None), None)
    line, end_line, column, end_column = found or (None, None, None, None)
    if line is None:
        line = code.co_firstlineno
    return Frame(code.co_filename, line, end_line, column, end_column, code.co_name)


def is_user_file(file: str) -> bool:
    """Return whether a file belongs to the program: not to Python, a package or the recorder."""
    known = _known.get(file)
    if known is None:
        known = _known[file] = _judge(file)
    return known


def _judge(file: str) -> bool:
    if file.startswith("<"):
        return file.startswith("<ipython-input") and file in linecache.cache
    if os.path.basename(file).startswith("__autograph_generated_file"):
        return False
    path = os.path.abspath(file)
    if path == os.path.abspath(getattr(sys.modules.get("__main__"), "__file__", None) or ""):
        return True
    if f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path:
        return False
    return not path.startswith(_library_folders())


def _library_folders() -> tuple[str, ...]:
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    python = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    return tuple(os.path.join(folder, "") for folder in (own, *python) if folder)


def _is_own(code: CodeType) -> bool:
    return code.co_filename.startswith(_HERE)


_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
