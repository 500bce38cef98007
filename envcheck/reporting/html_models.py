"""The comparison of two models in the HTML report: outcome, plot by depth, table of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.reporting.html_plots import depth_plot
from envcheck.reporting.html_text import grid, shown
from envcheck.reporting.parity_rows import HEADS, outcome_lines, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["models"]

_MOST_OPEN = 20
"""Calls up to which their table is not folded."""


def models(parity: Mapping[str, Any] | None) -> str:
    """Return the section on the models, or nothing where none were compared."""
    if parity is None:
        return ""
    lines = "".join(
        f"<tr><th scope=row>{label}</th><td>{shown(told)}</td></tr>"
        for label, told in outcome_lines(parity)
    )
    outcome = f'<div class="wide"><table><tbody>{lines}</tbody></table></div>'
    if not parity["layers"]:
        return f"<section><h2>The models</h2>{outcome}</section>"
    return f"<section><h2>The models</h2>{outcome}{depth_plot(parity)}{_calls(parity)}</section>"


def _calls(parity: Mapping[str, Any]) -> str:
    rows = rows_of(parity)
    faults = [number for number, row in enumerate(parity["layers"]) if row["fault"]]
    opened = " open" if len(rows) <= _MOST_OPEN else ""
    table = grid(HEADS, rows, kind="wide calls", marked=faults)
    return f"<details{opened}><summary>Calls ({len(rows)})</summary>{table}</details>"
