"""The report as JSON, exactly `envcheck.report/1`, in ASCII."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.reporting.style import Style

__all__ = ["render"]


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as indented JSON."""
    return json.dumps(report.to_json(), indent=2, ensure_ascii=True, allow_nan=False) + "\n"
