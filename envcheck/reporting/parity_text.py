"""The parts of the text report that speak of a comparison of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.reporting.escape import escape, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.reporting.layout import Page
    from envcheck.reporting.style import Style

__all__ = ["add_layers", "add_summary"]

_MOST_OUTPUTS = 4
_MOST_ROWS = 12
_WORDS = {
    "match": "same function", "noise": "same function, within a wide reading of rounding",
    "absorbed": "outputs agree, a layer does not", "precision": "lower precision throughout",
    "mismatch": "not the same function", "interface": "cannot be called alike",
    "convert-fail": "not converted", "load-fail": "does not load", "run-fail": "does not run",
    "inconclusive": "not comparable",
}  # fmt: skip


def add_summary(page: Page, parity: Mapping[str, Any]) -> None:
    """Add the verdict of the comparison, the outputs and the coverage."""
    verdict = str(parity["verdict"])
    page.prose(f"{verdict}: {_WORDS.get(verdict, '')}", first="  parity    ")
    outputs = parity["outputs"]
    for output in outputs[:_MOST_OUTPUTS]:
        page.prose(_output(output), first="  output    ")
    if len(outputs) > _MOST_OUTPUTS:
        page.line(f"            and {len(outputs) - _MOST_OUTPUTS} more outputs")
    total = sum(parity["coverage"].values())
    if total:
        counts = ", ".join(f"{n} {kind}" for kind, n in parity["coverage"].items() if n)
        page.prose(f"{total} calls: {counts}", first="  layers    ")


def _output(output: Mapping[str, Any]) -> str:
    flips = output.get("flips")
    decided = ""
    if flips is not None and output.get("decisions"):
        decided = f", {flips} of {output['decisions']} decisions flip"
    return (
        f"{escape(str(output['name']))}: off by {_number(output['error'])} (relative L2),"
        f" rounding alone {_number(output['noise'])}{decided}"
    )


def _number(value: Any) -> str:
    return "infinity" if value is None else f"{value:.2g}"


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
        page.line(
            f"{mark} {name:<{width}}  {row['kind']:<8}  {_error(row['natural_error']):>10}"
            f"  {_error(row['local_error']):>10}  {ratio}"
        )
    if len(shown) < len(rows):
        page.line(f"  {len(shown)} of {len(rows)} calls shown (-v shows all)")


def _error(value: Any) -> str:
    return "-" if value is None else f"{value:.1e}"


def _around(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows around the first fault; none where there is no fault."""
    first = next((place for place, row in enumerate(rows) if row["fault"]), None)
    if first is None:
        return []
    return rows[max(0, first - 2) : first - 2 + _MOST_ROWS]
