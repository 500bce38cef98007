"""What a process that `children` started does for itself: end in time, and without ado."""

from __future__ import annotations

import os
import threading

__all__ = ["end_with_parent", "leave"]


def end_with_parent() -> None:
    """End this process, a child, when its parent is gone; and be the first to go without memory.

    Called by the child itself.
    """
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("800")
    except OSError:
        pass

    watched = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def wait() -> None:
        try:
            while os.read(watched, 4096):
                pass
        except OSError:
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def leave() -> None:
    """End this process at once: what native libraries do on their way out changes no result."""
    os._exit(0)
