"""Stand-in for an application: says that it runs, and ends on SIGTERM as a server should."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Wait for SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"serving as process {os.getpid()}", flush=True)
    try:
        while True:
            signal.pause()
    finally:
        print("ended", flush=True)


if __name__ == "__main__":
    sys.exit(main())
