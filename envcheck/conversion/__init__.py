"""Compare a model with its conversion: record, align by value, heal, force, judge, explain.

`envcheck.parity()` and `envcheck.trace()` are the way in; `assert_parity` is for test suites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.conversion.asserting import assert_parity

__all__ = ["assert_parity"]


def __getattr__(name: str) -> Any:
    if name != "assert_parity":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from envcheck.conversion.asserting import assert_parity

    return assert_parity
