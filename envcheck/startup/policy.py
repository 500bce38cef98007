"""What stops the application from starting, and who may loosen that.

CPython 3.9, standard library.
"""

from __future__ import annotations

from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_CRASHED,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    EXIT_USAGE,
)

__all__ = ["CLOSED", "OPEN", "POLICIES", "WARN", "exit_code", "headline", "is_looser"]

CLOSED = "closed"
"""Only an environment that was checked and conforms starts the application."""
WARN = "warn"
"""Findings are logged and do not stop it; a check that could not be done does."""
OPEN = "open"
"""Nothing stops it; everything is logged."""
POLICIES = (CLOSED, WARN, OPEN)


_ORDER = (EXIT_CRASHED, EXIT_USAGE, EXIT_DOES_NOT_CONFORM, EXIT_UNDETERMINED)


def headline(*codes: int) -> int:
    """Return the exit code that says most, for the codes that the parts of a check came to."""
    return next((code for code in _ORDER if code in codes), EXIT_CONFORMS)


def exit_code(policy: str, *codes: int) -> int:
    """Return the exit code under a policy, for the codes that the parts of a check came to.

    Each part counts by itself: a finding that `warn` lets pass does not let a check pass that
    could not be done.
    """
    if policy == OPEN:
        return EXIT_CONFORMS
    if policy == WARN:
        codes = tuple(code for code in codes if code != EXIT_DOES_NOT_CONFORM)
    return headline(*codes)


def is_looser(policy: str, than: str) -> bool:
    """Return whether a policy lets more environments start than another one."""
    return POLICIES.index(policy) > POLICIES.index(than)
