"""The rules of a comparison: those that ship with envcheck, and those of the user's folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from envcheck.comparing.tables import read_rule_file
from envcheck.errors import RuleError
from envcheck.records import record
from envcheck.rulebook.index import IndexEntry, read_index
from envcheck.rulebook.loading import Rulebook

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Rules",
    "builtin_folder",
    "builtin_index",
    "builtin_rules",
    "case_folders",
    "check_folder",
    "load_rules",
]

_INDEX = "index.json"


def builtin_folder() -> Path:
    """Return the folder of the rules that ship with envcheck."""
    from pathlib import Path

    return Path(next(iter(import_module("envcheck.rules").__path__)))


@cache
def builtin_rules() -> Rulebook:
    """Return the rules that ship with envcheck, in compiled form."""
    return Rulebook.from_data(json.loads(read_rule_file("compiled.json")))


@cache
def builtin_index() -> dict[str, IndexEntry]:
    """Return fault, category and component of every built-in rule."""
    return read_index(json.loads(read_rule_file(_INDEX)))


@record
class Rules:
    """A rulebook with the category and component of every rule in it.

    `added` says whether rules of the user are among them.
    """

    book: Rulebook
    index: Mapping[str, IndexEntry]
    added: bool = False


def load_rules(folders: Iterable[str | os.PathLike[str]] = (), cache: Path | None = None) -> Rules:
    """Return the built-in rules together with those of further folders.

    A folder may say category and component of its rules in an `index.json`; without one they
    are `setting` and `deployment`. Raises RuleError with every mistake, and MissingExtra when
    rdflib is needed and absent.
    """
    book, index = builtin_rules(), dict(builtin_index())
    added = False
    for named in folders:
        from pathlib import Path

        from envcheck.comparing.vocabulary import words
        from envcheck.rulebook.folders import load_folder

        folder = Path(named)
        if not folder.is_dir():
            raise RuleError("is no folder", place=str(folder))
        more = load_folder(folder, words(), cache)
        book = book.merged(more)
        index.update(_index_of(folder, more))
        added = True
    return Rules(book, index, added)


def _index_of(folder: Path, book: Rulebook) -> dict[str, IndexEntry]:
    found: dict[str, IndexEntry] = {}
    path = folder / _INDEX
    if path.is_file():
        try:
            found = read_index(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, AttributeError) as problem:
            raise RuleError(f"is no rule index: {problem}", place=str(path)) from problem
    for rule_id in book.ids:
        rule = book.rule(rule_id)
        found.setdefault(
            rule_id,
            IndexEntry({"fault": rule.fault, "category": "setting", "component": "deployment",
                        "severity": rule.severity}),
        )  # fmt: skip
    return found


def check_folder(folder: Path, *, built_in: bool = False) -> int:
    """Return the number of rules about environments; raises RuleError with every mistake."""
    from envcheck.comparing.vocabulary import words
    from envcheck.rulebook.compiling import compile_sources
    from envcheck.rulebook.sources import is_about_training, read_sources

    sources = read_sources(folder)
    sources = {name: text for name, text in sources.items() if not is_about_training(name)}
    return len(compile_sources(sources, words(), built_in=built_in)["rules"])


def case_folders(folder: Path) -> list[Path]:
    """Return the folders at or below `folder` that have a `cases` folder, sorted.

    Cases of rules about training are left out.
    """
    from envcheck.rulebook.sources import is_about_training

    found = (path.parent for path in folder.rglob("cases") if path.is_dir())
    return sorted(
        path for path in found if not is_about_training(path.relative_to(folder).as_posix())
    )
