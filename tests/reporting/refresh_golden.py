"""Write the golden reports again, to be read before they are committed.

python -m tests.reporting.refresh_golden
"""

from __future__ import annotations

from pathlib import Path

from envcheck.reporting.registry import render
from envcheck.reporting.style import Style
from tests.reporting.sample import report

__all__ = ["GOLDEN", "rendered"]

GOLDEN = Path(__file__).with_name("golden")
STYLES = {
    "text.txt": ("text", Style()),
    "text_verbose.txt": ("text", Style(verbose=True)),
    "text_narrow_color.txt": ("text", Style(width=48, color=True)),
    "json.json": ("json", Style()),
}


def rendered(name: str) -> str:
    """Return the sample report in one of the ways that are kept."""
    format_name, style = STYLES[name]
    return render(report(), format_name, style)


if __name__ == "__main__":
    for file_name in STYLES:
        (GOLDEN / file_name).write_text(rendered(file_name), "utf-8")
