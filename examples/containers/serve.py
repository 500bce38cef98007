"""Stand-in for an application: says that it runs, and ends on SIGTERM as a server should."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Wait for SIGTERM."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    print(f"serving as process {os.getpid()}", flush=True)
    while not ended:
        signal.pause()
    print("ended", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
