"""`python -m envcheck`, the same as the command `envcheck`."""

from __future__ import annotations

import sys

from envcheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
