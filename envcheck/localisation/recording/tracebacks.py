"""Exceptions of the program: without frames of the recorder, and as evidence for the log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["own_folder", "user_lines", "without_own_frames"]


def own_folder() -> str:
    """Return the folder that holds the recorder."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def without_own_frames(problem: BaseException) -> TracebackType | None:
    """Take the recorder's frames out of an exception and out of those that led to it.

    Returns the traceback that is left.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [problem]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = _shortened(current.__traceback__)
        waiting += [current.__cause__, current.__context__]
        waiting += getattr(current, "exceptions", ()) if _is_group(current) else ()
    return problem.__traceback__


def _is_group(problem: BaseException) -> bool:
    return isinstance(problem, BaseExceptionGroup)


def _shortened(trace: TracebackType | None) -> TracebackType | None:
    kept = [link for link in _links(trace) if not _is_own(link)]
    following: TracebackType | None = None
    for link in reversed(kept):
        following = type(link)(following, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return following


def _links(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_own(link: TracebackType) -> bool:
    code = link.tb_frame.f_code
    bootstrap = code.co_filename == "<string>" and "launch" in code.co_names
    return bootstrap or code.co_filename.startswith(own_folder())


def user_lines(problem: BaseException) -> list[dict[str, Any]]:
    """Return the user's own lines that an exception passed through, the innermost first."""
    from envcheck.localisation.recording.sites import is_user_file, site_of_line

    lines = [
        site_of_line(link.tb_frame.f_code.co_filename, link.tb_lineno)
        for link in _links(problem.__traceback__)
        if is_user_file(link.tb_frame.f_code.co_filename)
    ]
    return lines[::-1]
