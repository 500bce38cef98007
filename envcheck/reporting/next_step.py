"""What to do now, with the commands: the last lines of the text report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.escape import escape

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.reporting.layout import Page

__all__ = ["add_next_step"]


def add_next_step(page: Page, report: Report) -> None:
    """Say what to fix first and how to look again; nothing where there is no error."""
    worst = next((item for item in report.active if item.severity == "error"), None)
    commands = [] if worst is None else _commands(report, worst.stage)
    if worst is None or not commands:
        return
    page.blank()
    page.prose(f"Next: fix {worst.rule} first, since others may follow from it. Then look again:")
    for command in commands:
        page.line(f"  {command}")


def _commands(report: Report, stage: str) -> list[str]:
    """Return the commands that repeat the check of a stage; none where a side has no file."""
    if stage == "training":
        names = _names(report, "run")
        return [f"envcheck localise {names[0]}"] if names else []
    if stage == "conversion":
        names = _names(report, "reference", "candidate")
        return [f"envcheck parity {' '.join(names)}"] if names else []
    names = _names(report, "train", "deploy")
    if not names:
        return []
    again = [f"envcheck compare {' '.join(names)}"]
    if names[1].endswith(".json"):
        again.insert(0, f"envcheck capture --role deploy -o {names[1]}")
    return again


def _names(report: Report, *sides: str) -> list[str]:
    """Return the files of the sides as they are typed in a shell, or nothing."""
    places = [str(report.inputs.get(side, {}).get("place") or "") for side in sides]
    return [_as_argument(place) for place in places] if all(places) else []


def _as_argument(name: str) -> str:
    """Return a path as it is typed in a shell."""
    if name == "standard input":
        return "-"
    import shlex

    return shlex.quote(escape(name))
