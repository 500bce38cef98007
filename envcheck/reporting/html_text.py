"""Text from outside as HTML, and the tables that hold it."""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING

from envcheck.reporting.escape import escape, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["MOST_OF_A_TITLE", "grid", "shown"]

MOST_OF_A_TITLE = 400


def shown(text: str) -> str:
    """Return a text as HTML: on one line, everything invisible spelt out."""
    return escape_html(escape(text))


def grid(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    kind: str = "wide",
    marked: Sequence[int] = (),
) -> str:
    """Return a table that scrolls by itself; rows whose number is in `marked` stand out."""
    top = "".join(f"<th scope=col>{head}</th>" for head in heads)
    lines = "".join(
        f"<tr{' class=marked' if number in marked else ''}>"
        f"{''.join(f'<td>{shown(shorten(cell, MOST_OF_A_TITLE))}</td>' for cell in row)}</tr>"
        for number, row in enumerate(rows)
    )
    head = f"<thead><tr>{top}</tr></thead>"
    return f'<div class="{kind}"><table>{head}<tbody>{lines}</tbody></table></div>'
