"""What the parts of a self-test come to. CPython 3.9, standard library."""

from __future__ import annotations

from typing import Any

from envcheck.records import field, record

__all__ = ["Checked", "joined"]


@record
class Checked:
    """What one part of a self-test came to: no codes when there is nothing to object to."""

    codes: frozenset[int] = frozenset()
    how: str = ""
    problems: list[str] = field(default_factory=list)
    warnings: int = 0
    details: dict[str, Any] = field(default_factory=dict)


def joined(first: Checked, second: Checked) -> Checked:
    """Return what two parts come to together."""
    return Checked(
        codes=first.codes | second.codes,
        how=first.how or second.how,
        problems=[*first.problems, *second.problems],
        warnings=first.warnings + second.warnings,
        details={**first.details, **second.details},
    )
