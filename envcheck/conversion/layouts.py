"""In which order two runtimes may lay out the same values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.arrays import Array

__all__ = ["IDENTITY", "Layout", "conventional", "every", "layout_between"]

_MOST_AXES = 4
"""Up to this rank all orders of the axes are tried, after the conventional ones."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the reference's value becomes the candidate's: permute the axes, then reshape."""

    kind: str
    axes: tuple[int, ...] = ()

    def apply(self, value: Array, shape: Sequence[int]) -> Array:
        """Return a reference value of any shape in the candidate's layout and `shape`."""
        return self.permuted(value).reshape(tuple(shape))

    def permuted(self, value: Array) -> Array:
        """Return a view of a reference value with its axes in the candidate's order."""
        return value.transpose(self.axes) if self.axes else value

    def restore(self, value: Array, shape: Sequence[int]) -> Array:
        """Return a candidate's value in the reference's layout and `shape`."""
        if not self.axes:
            return value.reshape(tuple(shape))
        import numpy as np

        inner = value.reshape(tuple(shape[axis] for axis in self.axes))
        return inner.transpose(tuple(np.argsort(self.axes)))


IDENTITY = Layout(kind="identity")


def conventional(rank: int) -> list[Layout]:
    """Return the layouts that converters use for a value of `rank` axes, likeliest first."""
    found = [IDENTITY]
    if rank >= 3:
        inner = range(1, rank - 1)
        found.append(Layout(kind="channels-first", axes=(0, rank - 1, *inner)))
        found.append(Layout(kind="channels-last", axes=(0, *range(2, rank), 1)))
        found.append(Layout(kind="time-major", axes=(1, 0, *range(2, rank))))
    if rank == 4:
        found.append(Layout(kind="heads-first", axes=(0, 2, 1, 3)))
    unique = {layout.axes: layout for layout in reversed(found)}
    return [layout for layout in found if unique[layout.axes] is layout]


def every(rank: int) -> list[Layout]:
    """Return the conventional layouts, then every other order of the axes up to four axes."""
    found = conventional(rank)
    if 2 <= rank <= _MOST_AXES:
        known = {layout.axes or tuple(range(rank)) for layout in found}
        found += [
            Layout(kind="permuted", axes=axes)
            for axes in permutations(range(rank))
            if axes not in known
        ]
    return found


def layout_between(
    reference: Sequence[int], candidate: Sequence[int], *, channels_first: bool | None = None
) -> Layout | None:
    """Return the conventional layout that leads from one shape to the other, or None.

    Axes of length one do not count. `channels_first` says what is known of the candidate, and
    decides where the shapes allow both (for instance a square image with as many channels).
    """
    wanted = [size for size in candidate if size != 1]
    fitting = []
    for layout in conventional(len(reference)):
        shape = [reference[axis] for axis in layout.axes] if layout.axes else list(reference)
        if [size for size in shape if size != 1] == wanted:
            fitting.append(layout)
    if channels_first is not None and len(reference) >= 3:
        kinds = ("channels-first",) if channels_first else ("identity",)
        chosen = [layout for layout in fitting if layout.kind in kinds]
        fitting = chosen or fitting
    return fitting[0] if fitting else None
