"""What `selftest` and `exec` do alike: check, log, leave the result where it is asked for.

CPython 3.9, standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envcheck.errors import EXIT_CONFORMS, EnvcheckError
from envcheck.startup import state, termination
from envcheck.startup.journal import Journal
from envcheck.startup.policy import CLOSED
from envcheck.startup.selftest import SelfTest, refused, run_selftest
from envcheck.startup.settings import make_settings, policy_of

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console

__all__ = ["check_start"]

_EXIT_TERMINATED = 128 + 15


def check_start(
    options: argparse.Namespace, console: Console, environ: Mapping[str, str]
) -> SelfTest:
    """Run the self-test; write the state file and the termination message.

    Mistakes in variables follow the policy; one that is none counts as closed.
    """
    _heed_sigterm()
    journal = Journal(_tell, quiet=console.quiet)
    policy, loosened_from = CLOSED, ""
    try:
        policy, loosened_from = policy_of(vars(options), environ)
        settings = make_settings(vars(options), environ)
    except EnvcheckError as problem:
        result = refused(policy, loosened_from, problem, journal)
    else:
        result = run_selftest(settings, journal)
    path = environ.get(state.VARIABLE)
    if path:
        _write_state(path, result, journal)
    if result.exit_code != EXIT_CONFORMS:
        foot = "the log of the container has all of it, one JSON object per line"
        text = termination.message(f"envcheck: {result.summary}", result.problems, foot)
        termination.write(text, environ)
    return result


def _tell(line: str) -> None:
    """Write one line to stderr at once; a log that nobody takes stops no application."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        pass


def _heed_sigterm() -> None:
    """Let SIGTERM end the check even as process 1, which the kernel shields from it.

    Only where nothing else was set; the application gets the default back when it starts.
    """
    if os.getpid() == 1 and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: Any) -> None:
    os._exit(_EXIT_TERMINATED)


def _write_state(path: str, result: SelfTest, journal: Journal) -> None:
    checked = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    found = state.State(result.verdict, result.exit_code, result.policy, checked, result.summary)
    details = {
        "how": result.how,
        "problems": list(result.problems[:20]),
        "warnings": result.warnings,
        "seconds": result.seconds,
        "details": result.details,
    }
    try:
        state.write_state(path, found, details)
    except (OSError, ValueError) as problem:
        journal.write("warning", "state", file=path, problem=f"cannot be written: {problem}")
