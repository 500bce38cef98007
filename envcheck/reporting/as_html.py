"""The report as one HTML file: no script, nothing loaded from elsewhere, light and dark.

The content security policy in its head forbids scripts and every connection, so even a text
that got through the escaping could do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.html_parts import body
from envcheck.reporting.html_style import FRAGMENT_STYLE, PAGE_STYLE
from envcheck.reporting.html_text import shown
from envcheck.reporting.words import side_name, verdict_words

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.reporting.style import Style

__all__ = ["fragment", "render"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main class="envcheck">
{body}
</main>
</body>
</html>
"""


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - every format takes a style
    """Return the report as a whole page."""
    side = "run" if "run" in report.inputs else "deploy"
    title = f"envcheck: {verdict_words(report).lower()}: {side_name(report, side)}"
    return _PAGE.format(policy=_POLICY, title=shown(title), style=PAGE_STYLE, body=body(report))


def fragment(report: Report) -> str:
    """Return the report for a place inside another page, such as a notebook."""
    return f'<style>{FRAGMENT_STYLE}</style><div class="envcheck">{body(report)}</div>'
