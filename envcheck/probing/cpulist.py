"""Lists of processors as the kernel writes them, such as `0-3,8`."""

from __future__ import annotations

__all__ = ["count_cpus"]

_MOST = 1 << 16


def count_cpus(text: str) -> int | None:
    """Return how many processors a list names, or None if it is not such a list.

    Grammar: Linux, "cpulist" format: numbers and ranges, a range perhaps with `:used/group`.
    """
    found: set[int] = set()
    for part in text.strip().split(","):
        span, _, group = part.strip().partition(":")
        first, dash, last = span.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            return None
        low, high = int(first), int(last if dash else first)
        if high < low or high > _MOST:
            return None
        used, slash, size = group.partition("/")
        if group and not (slash and used.isdigit() and size.isdigit() and int(size)):
            return None
        numbers = range(low, high + 1)
        found.update(n for n in numbers if not group or (n - low) % int(size) < int(used))
    return len(found)
