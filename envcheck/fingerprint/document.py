"""A fingerprint: the facts of one environment, and their canonical file form.

Canonical means: JSON, UTF-8 (ASCII with escapes), sorted keys, one fact per line. So a diff is
readable, an annotation has a real line, and the same facts give the same bytes. CPython 3.9,
standard library.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from envcheck.facts import Fact, Facts, unknown
from envcheck.records import field, record

__all__ = ["ROLES", "SCHEMA", "Fingerprint", "write_atomically"]

SCHEMA = "envcheck.fingerprint/1"
ROLES = ("train", "deploy")

_KEY = r'\s*("(?:[^"\\]|\\.)*")\s*:'
_MARK = "<envcheck: between two facts>"
_dump = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=True).encode
_NOT_CAPTURED = unknown("the fingerprint does not have this fact")


@record
class Fingerprint:
    """The facts of one environment.

    `envelope` says when, by what and for which role it was made; it takes no part in the digest.
    `place` names where it was read from, for messages.
    """

    facts: Facts
    envelope: Mapping[str, Any] = field(default_factory=dict)
    schema: str = SCHEMA
    place: str = ""
    text: str = field(default="", repr=False, compare=False)
    """The file content it was read from, for line numbers."""

    @property
    def role(self) -> str:
        """`train`, `deploy`, or empty when the envelope does not say."""
        return str(self.envelope.get("role", ""))

    def fact(self, key: str) -> Fact:
        """Return the fact of a key; one that was never captured is unknown."""
        return self.facts.get(key, _NOT_CAPTURED)

    def family(self, prefix: str) -> dict[str, Fact]:
        """Return the facts whose key starts with `prefix.`, by the rest of their key."""
        head = prefix + "."
        return {key[len(head) :]: fact for key, fact in self.facts.items() if key.startswith(head)}

    @property
    def digest(self) -> str:
        """SHA-256 over the canonical facts, the same for the same facts."""
        import hashlib

        return hashlib.sha256(_facts_text(self.facts).encode("ascii")).hexdigest()

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from importlib import import_module

        return str(import_module("envcheck.integrations.jupyter").fingerprint_html(self))

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as JSON data."""
        return {
            "schema": self.schema,
            "envelope": dict(self.envelope),
            "facts": {key: fact.to_json() for key, fact in sorted(self.facts.items())},
        }

    def to_text(self) -> str:
        """Return the canonical file content."""
        envelope = _dump(dict(self.envelope))
        head = f'{{\n  "schema": {_dump(self.schema)},\n  "envelope": {envelope},\n'
        return f'{head}  "facts": {_facts_text(self.facts)}\n}}\n'

    def write(self, path: str) -> None:
        """Write the canonical file, whole or not at all."""
        write_atomically(path, self.to_text())

    def line_of(self, key: str) -> int | None:
        """Return the line of a fact, counted from 1, or None when there is none.

        That is its line in the file it was read from, also when that was reformatted; for
        facts that come from no file, its line in the canonical file.
        """
        return self._lines.get(key)

    @cached_property
    def _lines(self) -> dict[str, int]:
        if self.text:
            return _lines_in(self.text, self.facts)
        if self.place:
            return {}
        return {key: line for line, key in enumerate(sorted(self.facts), 5)}


def _lines_in(text: str, facts: Facts) -> dict[str, int]:
    """Return the line of each fact in a JSON text that has its keys at the start of lines."""
    found: dict[str, int] = {}
    match = re.compile(_KEY).match
    for number, line in enumerate(text.split("\n"), 1):
        head = match(line)
        if head is None:
            continue
        key = json.loads(head[1]) if "\\" in head[1] else head[1][1:-1]
        if key in facts:
            found.setdefault(key, number)
    return found


def _facts_text(facts: Facts) -> str:
    if not facts:
        return "{}"
    keys = sorted(facts)
    values = _dump_each([facts[key].to_json() for key in keys])
    lines = ",\n".join(f"    {_dump(key)}: {value}" for key, value in zip(keys, values))
    return "{\n" + lines + "\n  }"


def _dump_each(values: list[Any]) -> list[str]:
    """Return the text of each value; they are written in one go, with a mark between them."""
    text = _dump([item for value in values for item in (value, _MARK)])
    parts = text[1:-1].split(f', "{_MARK}"')
    if len(parts) != len(values) + 1:  # a value has the mark in it
        return [_dump(value) for value in values]
    return [part.removeprefix(", ") for part in parts[:-1]]


def write_atomically(path: str, text: str) -> None:
    """Write `text` to a temporary file beside `path` and rename it.

    The mode of an existing file is kept. A device or pipe (`/dev/null`) is written directly.
    Raises OSError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".envcheck-{os.urandom(6).hex()}.tmp")
    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
