"""The files part of a self-test: what their inspection comes to. CPython 3.9, standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import EXIT_DOES_NOT_CONFORM, EXIT_UNDETERMINED
from envcheck.probing.host import Host
from envcheck.startup.budget import Budget
from envcheck.startup.checked import Checked
from envcheck.startup.tampering import inspect_files

if TYPE_CHECKING:
    from envcheck.startup.journal import Journal

__all__ = ["check_files"]


def check_files(seconds: float, journal: Journal) -> Checked:
    """Compare the files of distributions with their RECORD, for so many seconds."""
    found = inspect_files(Host(), Budget(seconds))
    counts = {"listed": found.listed, "sized": found.sized, "hashed": found.hashed}
    for item in journal.some(found.tampered):
        journal.write("error", "file", file=item.path, problem=item.what)
    journal.write("info" if found.is_complete else "warning", "files", **counts,
                  budget=seconds, complete=found.is_complete)  # fmt: skip
    details = {"files": {**counts, "tampered": len(found.tampered)}}
    problems = [f"file {item.path} {item.what}" for item in found.tampered]
    if problems:
        return Checked(frozenset((EXIT_DOES_NOT_CONFORM,)), problems=problems, details=details)
    if not found.is_complete and found.sized == found.listed and found.listed:
        return Checked(warnings=1, details=details)  # every size fits; not every digest was made
    if not found.is_complete or not found.listed:
        problem = f"timeout: the files could not be looked at within {seconds:g} s"
        if found.is_complete:
            problem = "no installed distribution lists its files, so none could be checked"
        return Checked(frozenset((EXIT_UNDETERMINED,)), problems=[problem], details=details)
    return Checked(details=details)
