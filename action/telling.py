"""What the runner gets to read: the log, annotations, the summary of the job, outputs."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from action.checking import Check

__all__ = ["log", "no_commands", "read", "refuse", "tell", "write_outputs"]


def log(text: str) -> None:
    """Write to the log of the step, in order."""
    sys.stdout.write(text)
    sys.stdout.flush()


def read(path: str) -> str:
    """Return the content of a text file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def append(variable: str, text: str) -> None:
    """Append to the file that GitHub names in a variable, where it does."""
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(text)


@contextlib.contextmanager
def no_commands() -> Any:
    """Have the runner obey nothing that is written to the log meanwhile."""
    token = secrets.token_hex(16)
    log(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        log(f"\n::{token}::\n")


def tell(check: Check, code: int) -> None:
    """Write annotations and summary: those of the report, and what was not checked and why."""
    from envcheck.reporting.as_github import command
    from envcheck.reporting.markdown_text import fenced

    found = os.path.exists(check.files["json"])
    title, message = "", check.models
    if message:
        title = "envcheck: the models were not compared"
    elif not found:
        title = "envcheck: nothing was checked"
        message = check.told.getvalue().strip() or f"exit code {code}"
    problem = f"## ❔ {title}\n\n{fenced(message[:9000])}\n\n" if title else ""
    if title:
        log(f"{command('error', message, title=title)}\n")
    if found and check.inputs.flag("annotations"):
        log(read(check.files["github"]))
    if check.inputs.flag("summary"):
        append("GITHUB_STEP_SUMMARY", problem + (read(check.files["markdown"]) if found else ""))


def write_outputs(outputs: dict[str, str]) -> None:
    """Write the outputs, each on one line."""
    lines = []
    for name, value in outputs.items():
        assert "\n" not in value
        assert "\r" not in value
        lines.append(f"{name}={value}\n")
    append("GITHUB_OUTPUT", "".join(lines))


def refuse(message: str, code: int) -> int:
    """Say why nothing was checked; return the exit code."""
    from envcheck.reporting.as_github import command

    log(f"{command('error', message, title='envcheck: nothing was checked')}\n")
    write_outputs({"conforms": "", "exit-code": str(code)})
    return code
