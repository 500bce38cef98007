"""The parts of the text report that speak of a comparison of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.reporting.escape import escape, shorten
from envcheck.reporting.parity_rows import outcome_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.reporting.layout import Page
    from envcheck.reporting.style import Style

__all__ = ["add_layers", "add_summary"]

_MOST_ROWS = 12


def add_summary(page: Page, parity: Mapping[str, Any]) -> None:
    """Add the verdict of the comparison, the outputs and the coverage."""
    for label, told in outcome_lines(parity):
        page.prose(escape(told), first=f"  {label:<10}")


def add_layers(page: Page, parity: Mapping[str, Any], style: Style) -> None:
    """Add the table of layer calls: all of them, or those around the first fault."""
    rows = parity["layers"]
    shown = rows if style.verbose else _around(rows)
    if not shown:
        return
    page.blank()
    widest = max(len(str(row["layer"])) for row in shown)
    width = min(max(widest, 5), max(style.width - 48, 16))
    page.line(f"  {'layer':<{width}}  {'kind':<8}  {'in the run':>10}  {'by itself':>10}  ratio")
    for row in shown:
        mark = "!" if row["fault"] else " "
        name = escape(shorten(str(row["layer"]), width - 8 if widest > width else width))
        ratio = f"{row['ratio']:.3g}" if row["ratio"] is not None else "-"
        kind = escape(shorten(str(row["kind"]), 8))
        page.line(
            f"{mark} {name:<{width}}  {kind:<8}  {_error(row['natural_error']):>10}"
            f"  {_error(row['local_error']):>10}  {ratio}"
        )
    if len(shown) < len(rows):
        page.line(f"  {len(shown)} of {len(rows)} calls shown (-v shows all)")


def _error(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1e}" if value else "0"


def _around(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows around the first fault; none where there is no fault."""
    first = next((place for place, row in enumerate(rows) if row["fault"]), None)
    if first is None:
        return []
    return rows[max(0, first - 2) : first - 2 + _MOST_ROWS]
