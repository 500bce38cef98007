"""The inputs of the action: read, checked, and their paths brought to one starting point."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

__all__ = ["Inputs", "Refused", "read_inputs"]


class Refused(Exception):
    """An input does not make sense."""


@dataclass
class Inputs:
    """The inputs by name; an empty one counts as not given."""

    values: dict[str, str]
    workspace: str
    base: str = field(init=False)

    def __post_init__(self) -> None:
        self.base = os.path.join(self.workspace, self.text("working-directory") or ".")
        if not os.path.isdir(self.base):
            raise Refused(f"working-directory {self.base!r} is no folder")

    def text(self, name: str) -> str:
        """Return a value of one line."""
        value = self.values.get(name, "").strip()
        if any(ord(char) < 32 or ord(char) == 127 for char in value):
            raise Refused(f"the input {name} has a line break or control character in it")
        return value

    def interpreter(self, name: str) -> str:
        """Return a Python by its path, as seen from the workspace, or by its name on PATH."""
        python = self.text(name)
        if os.path.dirname(python):
            python = self.place(python)
            python = python if os.path.dirname(python) else os.path.join(".", python)
        return python

    def lines(self, name: str) -> list[str]:
        """Return a value of several lines, each an item."""
        items = [line.strip() for line in self.values.get(name, "").splitlines()]
        if any(ord(char) < 32 or ord(char) == 127 for item in items for char in item):
            raise Refused(f"the input {name} has a control character in it")
        return [item for item in items if item]

    def flag(self, name: str) -> bool:
        """Return a value that is `true` or `false`."""
        value = self.text(name).lower() or "false"
        if value not in ("true", "false"):
            raise Refused(f"the input {name} is neither 'true' nor 'false'")
        return value == "true"

    def path(self, name: str) -> str:
        """Return a path as seen from the top of the workspace, or nothing."""
        value = self.text(name)
        return self.place(value) if value else ""

    def place(self, value: str) -> str:
        """Return where a path of an input leads; within the workspace it is relative to it.

        So an annotation names a file as the repository does.
        """
        whole = os.path.normpath(os.path.join(self.base, value))
        try:
            inside = os.path.commonpath([whole, self.workspace]) == self.workspace
        except ValueError:  # another drive
            inside = False
        told = os.path.relpath(whole, self.workspace) if inside else whole
        return os.path.join(".", told) if told in ("-", "live") else told


def read_inputs() -> Inputs:
    """Return the inputs from the variables `INPUT_NAME`. Raises Refused."""
    values = {
        name[len("INPUT_") :].lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith("INPUT_")
    }
    inputs = Inputs(values, os.path.abspath(os.environ.get("GITHUB_WORKSPACE") or os.getcwd()))
    for name in ("summary", "annotations"):
        inputs.flag(name)
    return inputs
