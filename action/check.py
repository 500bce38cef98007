"""One check of the GitHub Action: inputs in, report, annotations, summary and outputs out.

Runs from the checkout of the action with the standard library alone; nothing is installed, and
nothing is written but to RUNNER_TEMP, to the files that GitHub names, and where an input says.
Only the comparison of two models needs more; see `models.py`.

Every input comes in through a variable `INPUT_NAME` and is never part of a command line that a
shell reads. What fingerprints hold may have been written by anyone, so while such text goes to
the log, the runner is told to obey no command in it.
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main() -> int:
    """Run the check; whatever goes wrong is told, and is no verdict."""
    os.dup2(1, 2)  # one stream, or the runner might read the second while it obeys the first
    sys.path.insert(0, ROOT)
    import envcheck

    envcheck.__path__.append(ROOT)
    from action.checking import CRASHED, REFUSED, check_environment
    from action.inputs import Refused
    from action.telling import refuse

    try:
        return check_environment()
    except Refused as problem:
        return refuse(str(problem), REFUSED)
    except Exception as problem:  # noqa: BLE001 - Python's own exit code 1 would be a verdict
        return refuse(f"{type(problem).__name__}: {problem}", CRASHED)


if __name__ == "__main__":
    sys.exit(main())
