"""`envcheck parity` from the checkout of the action, in whichever Python has the frameworks."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command with the arguments of this process; return its exit code."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, root)
    import envcheck

    envcheck.__path__.append(root)
    from envcheck.cli import main as run

    return run(["parity", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
