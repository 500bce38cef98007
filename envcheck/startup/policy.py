"""What stops the application from starting, and who may loosen that.

CPython 3.9, standard library.
"""

from __future__ import annotations

from envcheck.errors import EXIT_CONFORMS, EXIT_DOES_NOT_CONFORM

__all__ = ["CLOSED", "OPEN", "POLICIES", "WARN", "exit_code", "is_looser"]

CLOSED = "closed"
"""Only an environment that was checked and conforms starts the application."""
WARN = "warn"
"""Findings are logged and do not stop it; a check that could not be done does."""
OPEN = "open"
"""Nothing stops it; everything is logged."""
POLICIES = (CLOSED, WARN, OPEN)


def exit_code(policy: str, code: int) -> int:
    """Return the exit code under a policy, for the code that a check came to."""
    if policy == OPEN or (policy == WARN and code == EXIT_DOES_NOT_CONFORM):
        return EXIT_CONFORMS
    return code


def is_looser(policy: str, than: str) -> bool:
    """Return whether a policy lets more environments start than another one."""
    return POLICIES.index(policy) > POLICIES.index(than)
