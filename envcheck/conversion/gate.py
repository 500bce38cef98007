"""Pair the two models' inputs and outputs, and run the candidate as a user would."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envcheck.conversion.alignment import Match
from envcheck.conversion.calls import INPUT, Port
from envcheck.conversion.layouts import IDENTITY, Layout, conventional
from envcheck.conversion.runtimes.protocol import Feed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.inputs import Samples
    from envcheck.conversion.runtimes.protocol import Candidate

    _Find = Callable[[Feed, dict[int, str], int], int | None]

__all__ = ["Pairing", "pair_inputs"]

_TAIL = re.compile(r"(:\d+)$")
_HEAD = re.compile(r"^(serving_default_|in_|args_)")


@dataclass(kw_only=True)
class Pairing:
    """The candidate's inputs with the samples, and what does not fit."""

    feeds: dict[str, Array] = field(default_factory=dict)
    matches: dict[Port, Match] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Inputs of the reference that the candidate does not take."""


def pair_inputs(candidate: Candidate, samples: Samples, names: Sequence[str] = ()) -> Pairing:
    """Return which sample goes to which input: by name, else by shape, else by order.

    `names` are the candidate's names in the reference's order, where a conversion gave them.
    """
    pairing = Pairing()
    left = dict(enumerate(samples.names))
    open_feeds = list(candidate.inputs)
    for by in (_by_given(names), _by_name(samples), _by_shape(samples), _by_order(samples)):
        for feed in list(open_feeds):
            place = by(feed, left, len(open_feeds))
            if place is not None:
                del left[place]
                open_feeds.remove(feed)
                _bind(pairing, feed, place, samples)
    for feed in open_feeds:
        shape = ", ".join("?" if size is None else str(size) for size in feed.shape)
        pairing.problems.append(f"it wants an input {feed.name} ({feed.dtype}, shape ({shape})) "
                                "that the reference does not have")  # fmt: skip
    pairing.unread = [samples.names[place] for place in sorted(left)]
    return pairing


def _by_given(names: Sequence[str]) -> _Find:
    def find(feed: Feed, left: dict[int, str], _: int) -> int | None:
        plain = _TAIL.sub("", feed.name)
        return next((p for p in left if p < len(names) and names[p] == plain), None)

    return find


def _by_name(samples: Samples) -> _Find:
    def find(feed: Feed, left: dict[int, str], _: int) -> int | None:
        wanted = _plain(feed.name)
        return next((place for place in left if _plain(samples.names[place]) == wanted), None)

    return find


def _by_shape(samples: Samples) -> _Find:
    def find(feed: Feed, left: dict[int, str], _: int) -> int | None:
        fitting = [place for place in left if _layout(feed, samples.values[place]) is not None]
        return fitting[0] if len(fitting) == 1 else None

    return find


def _by_order(samples: Samples) -> _Find:
    def find(feed: Feed, left: dict[int, str], count: int) -> int | None:
        if len(left) != count:
            return None
        place = next(iter(left))
        return place if _layout(feed, samples.values[place]) is not None else None

    return find


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", _HEAD.sub("", _TAIL.sub("", name.lower())))


def _layout(feed: Feed, value: Array) -> Layout | None:
    """Return the layout in which a sample fits the declared shape of an input."""
    if not feed.shape:
        return IDENTITY
    if len(feed.shape) != value.ndim:
        return None
    for layout in conventional(value.ndim):
        sizes = [value.shape[axis] for axis in layout.axes] if layout.axes else value.shape
        pairs = zip(feed.shape, sizes, strict=True)
        if all(wanted in (None, 0, -1, size) for wanted, size in pairs):
            return layout
    return None


def _misfit(feed: Feed, value: Array, name: str) -> str:
    """Return in words how a sample does not fit an input, a fixed batch size by its name."""
    shape = ["?" if size is None else size for size in feed.shape]
    told = f"its input {feed.name} has shape {shape}".replace("'", "")
    fixed = feed.shape[0] if feed.shape else None
    if len(feed.shape) == value.ndim and fixed and fixed != value.shape[0]:
        free = Feed(name=feed.name, dtype=feed.dtype, shape=(None, *feed.shape[1:]))
        if _layout(free, value) is not None:
            return (f"it takes batches of {fixed} alone, and the reference was run on"
                    f" {value.shape[0]}: a batch size was fixed at export ({told})")  # fmt: skip
    return f"{told}, the reference's {name} has {list(value.shape)}"


def _bind(pairing: Pairing, feed: Feed, place: int, samples: Samples) -> None:
    import numpy as np

    value = samples.values[place]
    layout = _layout(feed, value)
    if layout is None:
        pairing.problems.append(_misfit(feed, value, samples.names[place]))
        layout = IDENTITY
    fed = np.ascontiguousarray(layout.permuted(value))
    if feed.dtype != str(fed.dtype) and feed.dtype not in ("unknown", "object"):
        if fed.dtype.kind in "OSU":
            pairing.problems.append(f"its input {feed.name} takes {feed.dtype}, not text")
        else:
            fed = fed.astype(feed.dtype)
    pairing.feeds[feed.name] = fed
    pairing.matches[Port(INPUT, place)] = Match(tensor=feed.name, layout=layout, error=0.0)
